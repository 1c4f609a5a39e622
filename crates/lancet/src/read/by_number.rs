//! What tables need of a file: they name columns by their numbers, not by names, and filter rows that come
//! from several files.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::BooleanBuffer;
use arrow_schema::Schema;
use bytes::Bytes;

use super::blobs::BlobColumn;
use super::file::OpenFile;
use super::projection::Projection;
use super::request::Request;
use super::scan_filter::column_at;
use super::steps::Steps;
use super::zone_maps::{self, MappedLeaf};
use crate::error::{Error, Result, ensure};
use crate::schema::columns::{Node, columns_of};
use crate::schema::projection::{locate, project_paths, type_of};
use crate::span::Span;
use crate::zones::check::check;
use crate::zones::evaluate::matching;
use crate::zones::filter::Filter;
use crate::zones::map::ZoneMap;

impl OpenFile {
    /// The fields that are made of columns with these numbers, and what is around them without its other
    /// children; in the order asked for. Manifests of tables name columns in this way.
    pub fn project_columns(&self, columns: &[u32]) -> Result<Projection> {
        let schema = &self.index.schema;
        let fields = project_paths(schema, &self.nodes, self.column_paths(columns)?);
        Projection::new(schema, fields)
    }

    /// The zone maps of columns with these numbers; see [`OpenFile::zone_maps`].
    pub fn zone_maps_of_columns(
        self: &Arc<Self>,
        columns: &[u32],
    ) -> Result<Request<Vec<Option<Arc<ZoneMap>>>>> {
        let paths = self.column_paths(columns)?.into_iter();
        let leaves: Vec<_> = paths.map(|path| MappedLeaf::at(&self.nodes, path)).collect();
        let file = self.clone();
        let load = |io| async move { zone_maps::load(&file, &io, &leaves).await };
        Ok(self.request(Steps::start(load)))
    }

    /// The blobs of the column with this number; see [`OpenFile::blobs`].
    pub fn blobs_of_column(self: &Arc<Self>, column: u32) -> Result<Request<BlobColumn>> {
        let columns = self.project_columns(&[column])?;
        let column = BlobColumn::of(self, columns, &format!("column {column}"))?;
        Ok(self.request(Steps::start(|io| async move { column.load(&io).await })))
    }

    /// Bytes outside the pages: blobs whose descriptions were read before. They are read together and count
    /// as one read.
    pub fn blob_bytes(self: &Arc<Self>, spans: Vec<Span>) -> Request<Vec<Bytes>> {
        let file = self.clone();
        self.request(Steps::start(|io| async move {
            for span in &spans {
                ensure!(
                    span.end() <= file.index.data_end,
                    "a blob at {span} lies outside the data"
                );
            }
            file.budget().claim(Span::total(&spans), "the blobs")?;
            io.read(spans).await
        }))
    }

    /// Where fields are, from the top down, by the numbers of their columns.
    fn column_paths(&self, columns: &[u32]) -> Result<Vec<Vec<usize>>> {
        let mut known = vec![None; self.index.columns.len()];
        collect_paths(&self.nodes, &mut Vec::new(), &mut known);
        let path = |column: &u32| {
            let known = usize::try_from(*column).ok().and_then(|column| known.get(column));
            known.cloned().flatten().ok_or_else(|| {
                Error::corrupt(format!(
                    "column {column} is not one that holds values; the file has {} columns",
                    self.index.columns.len()
                ))
            })
        };
        columns.iter().map(path).collect()
    }
}

fn collect_paths(nodes: &[Node], path: &mut Vec<usize>, known: &mut [Option<Vec<usize>>]) {
    for (index, node) in nodes.iter().enumerate() {
        path.push(index);
        match node {
            Node::Leaf(leaf) => {
                let column = usize::try_from(leaf.column).unwrap_or(usize::MAX);
                if let Some(known) = known.get_mut(column) {
                    *known = Some(path.clone());
                }
            }
            _ => collect_paths(node.children(), path, known),
        }
        path.pop();
    }
}

impl Filter {
    /// An error unless it can be answered for rows with this schema: its columns must be there, and compare
    /// with its values. [`FileReader::prune`](crate::FileReader::prune) says which do.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        let nodes = columns_of(schema)?;
        check(self, &|name| type_of(&nodes, name))
    }

    /// The rows of a batch for which the filter is true: not false, not null. Nested fields are named with
    /// dots, as in a scan.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{Int32Array, RecordBatch};
    /// use lancet::{Comparison, Filter};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ages = Arc::new(Int32Array::from(vec![Some(30), None, Some(70)]));
    /// let batch = RecordBatch::try_from_iter([("age", ages as _)])?;
    /// let filter = Filter::compare("age", Comparison::Gt, &Int32Array::new_scalar(42));
    /// assert_eq!(filter.matching(&batch)?.set_indices().collect::<Vec<_>>(), [2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn matching(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let nodes = columns_of(batch.schema_ref())?;
        matching(self, batch.num_rows(), &|name| {
            column_at(batch, &locate(&nodes, name)?).ok_or_else(|| {
                Error::invalid(format!("`{name}` has no value of its own for each row"))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int32Array, StructArray};
    use arrow_schema::{DataType, Field};

    use super::*;
    use crate::{Comparison, FileReader, FileWriter, ReadOptions, Version, WriteOptions};

    fn file(version: Version) -> FileReader {
        let numbers =
            |from: i32| Arc::new(Int32Array::from_iter_values(from..from + 9)) as ArrayRef;
        let field = |name: &str| Arc::new(Field::new(name, DataType::Int32, true));
        let inner = StructArray::from(vec![(field("x"), numbers(10)), (field("y"), numbers(20))]);
        let batch = RecordBatch::try_from_iter([
            ("a", numbers(0)),
            ("s", Arc::new(inner) as ArrayRef),
            ("b", numbers(30)),
        ]);
        let batch = batch.unwrap();
        let options = WriteOptions::default().with_version(version);
        let mut writer = FileWriter::new(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let bytes = writer.finish_into().unwrap().1;
        FileReader::from_bytes(bytes, ReadOptions::default()).unwrap()
    }

    #[test]
    fn columns_come_in_the_order_of_their_numbers() {
        // In 2.0 the struct has a column, too.
        for (version, columns) in [(Version::V2_0, [4, 3, 0]), (Version::V2_1, [3, 2, 0])] {
            let reader = file(version);
            let projection = reader.file().project_columns(&columns).unwrap();
            let batch = reader.read(&projection, 2..4).unwrap();
            let names: Vec<_> =
                projection.schema().fields().iter().map(|f| f.to_string()).collect();
            assert!(names[0].contains("\"b\"") && names[1].contains("\"y\""), "{names:?}");
            assert!(!names[1].contains("\"x\""), "{names:?}");
            assert_eq!(batch.column(2).as_ref(), &Int32Array::from(vec![2, 3]));
            for wrong in [99, u32::MAX] {
                let error = reader.file().project_columns(&[wrong]).unwrap_err().to_string();
                assert!(error.contains(&format!("column {wrong} is not one that")), "{error}");
            }
            let maps = reader.file().zone_maps_of_columns(&columns[..1]).unwrap();
            assert_eq!(reader.run(maps).unwrap().len(), 1);
        }
        // The column of the struct holds no values.
        assert!(file(Version::V2_0).file().project_columns(&[1]).is_err());
    }

    #[test]
    fn filters_are_checked_and_answered_for_any_batch() {
        let batch = file(Version::V2_1).read(.., ..).unwrap();
        let filter = Filter::compare("s.y", Comparison::GtEq, &Int32Array::new_scalar(27));
        filter.check(&batch.schema()).unwrap();
        let found: Vec<_> = filter.matching(&batch).unwrap().set_indices().collect();
        assert_eq!(found, [7, 8]);
        assert!(Filter::is_null("s.z").check(&batch.schema()).is_err());
        assert!(Filter::is_null("s.z").matching(&batch).is_err());
    }
}
