//! Tables made by hand of files that lancet writes: with zone maps, deletions, missing columns, fragments of several files.

use super::*;
use std::fs;

use arrow_ipc::writer::FileWriter as IpcWriter;
use datafusion::arrow::array::UInt32Array;
use datafusion::arrow::datatypes::{DataType, Schema};
use lancet::{FileWriter, Version, WriteOptions};
use prost::Message;

#[derive(Clone, PartialEq, Message)]
struct Manifest {
    #[prost(message, repeated, tag = "1")]
    fields: Vec<Field>,
    #[prost(message, repeated, tag = "2")]
    fragments: Vec<Fragment>,
    #[prost(uint64, tag = "3")]
    version: u64,
    #[prost(uint64, tag = "9")]
    reader_flags: u64,
    #[prost(uint64, tag = "10")]
    writer_flags: u64,
}

#[derive(Clone, PartialEq, Message)]
struct Field {
    #[prost(string, tag = "2")]
    name: String,
    #[prost(int32, tag = "3")]
    id: i32,
    #[prost(int32, tag = "4")]
    parent: i32,
    #[prost(string, tag = "5")]
    logical_type: String,
    #[prost(bool, tag = "6")]
    nullable: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Fragment {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "2")]
    files: Vec<DataFile>,
    #[prost(message, optional, tag = "3")]
    deletion_file: Option<DeletionFile>,
    #[prost(uint64, tag = "4")]
    physical_rows: u64,
}

#[derive(Clone, PartialEq, Message)]
struct DataFile {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(int32, repeated, tag = "2")]
    fields: Vec<i32>,
    #[prost(int32, repeated, tag = "3")]
    columns: Vec<i32>,
    #[prost(uint32, tag = "4")]
    major: u32,
    #[prost(uint32, tag = "5")]
    minor: u32,
    #[prost(uint64, tag = "6")]
    size: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct DeletionFile {
    #[prost(int32, tag = "1")]
    file_type: i32,
    #[prost(uint64, tag = "2")]
    read_version: u64,
    #[prost(uint64, tag = "3")]
    id: u64,
    #[prost(uint64, tag = "4")]
    num_deleted_rows: u64,
}

/// A table that is being made.
pub(super) struct Made {
    folder: PathBuf,
    schema: Arc<Schema>,
    fields: Vec<Field>,
    fragments: Vec<Fragment>,
    num_files: usize,
}

/// The name of a type in the format.
fn logical(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "bool".into(),
        DataType::Int32 => "int32".into(),
        DataType::Int64 => "int64".into(),
        DataType::Float64 => "double".into(),
        DataType::Utf8 => "string".into(),
        DataType::Date32 => "date32:day".into(),
        DataType::Decimal128(precision, scale) => format!("decimal:128:{precision}:{scale}"),
        DataType::Struct(_) => "struct".into(),
        other => panic!("no name for {other}"),
    }
}

impl Made {
    pub(super) fn new(folder: &Path, schema: Arc<Schema>) -> Self {
        for below in ["_versions", "data", "_deletions"] {
            fs::create_dir_all(folder.join(below)).unwrap();
        }
        let mut fields: Vec<Field> = Vec::new();
        let mut add = |field: &datafusion::arrow::datatypes::Field, parent: i32| {
            let id = i32::try_from(fields.len()).unwrap();
            let (name, nullable) = (field.name().clone(), field.is_nullable());
            let logical_type = logical(field.data_type());
            fields.push(Field { name, id, parent, logical_type, nullable });
            id
        };
        for field in schema.fields() {
            let id = add(field, -1);
            if let DataType::Struct(children) = field.data_type() {
                children.iter().for_each(|child| _ = add(child, id));
            }
        }
        let (fragments, num_files) = (Vec::new(), 0);
        Self { folder: folder.to_owned(), schema, fields, fragments, num_files }
    }

    /// The id of a field, named with a dot.
    fn id(&self, name: &str) -> i32 {
        let of = |name: &str, parent: i32| {
            let found = self.fields.iter().find(|f| f.name == name && f.parent == parent);
            found.unwrap_or_else(|| panic!("{name}")).id
        };
        match name.split_once('.') {
            Some((parent, child)) => of(child, of(parent, -1)),
            None => of(name, -1),
        }
    }

    /// Adds a fragment, some columns in each of its files.
    pub(super) fn fragment(
        &mut self,
        rows: &RecordBatch,
        files: &[&[&str]],
        version: Version,
        deleted: &[u32],
    ) {
        let id = self.fragments.len() as u64;
        let files = files.iter().map(|columns| self.data_file(rows, columns, version)).collect();
        let deletion_file = (!deleted.is_empty()).then(|| self.deletion_file(id, deleted));
        let physical_rows = rows.num_rows() as u64;
        self.fragments.push(Fragment { id, files, deletion_file, physical_rows });
    }

    fn data_file(&mut self, rows: &RecordBatch, names: &[&str], version: Version) -> DataFile {
        let mut columns = Vec::new();
        let (mut ids, mut numbers, mut next) = (Vec::new(), Vec::new(), 0);
        for name in names {
            let at = rows.schema().index_of(name).unwrap();
            columns.push(at);
            let mut push = |id: i32| {
                ids.push(id);
                numbers.push(next);
                next += 1;
            };
            match rows.schema().field(at).data_type() {
                DataType::Struct(children) => {
                    // Only in 2.0 a struct has a column of its own.
                    if version == Version::V2_0 {
                        push(self.id(name));
                    }
                    children.iter().for_each(|c| push(self.id(&format!("{name}.{}", c.name()))));
                }
                _ => push(self.id(name)),
            }
        }
        let path = format!("{:08x}.lance", self.num_files);
        self.num_files += 1;
        let rows = rows.project(&columns).unwrap();
        let (place, options) =
            (self.folder.join("data").join(&path), WriteOptions::default().with_version(version));
        let mut writer = FileWriter::create(&place, rows.schema(), options).unwrap();
        writer.write(&rows).unwrap();
        writer.finish().unwrap();
        let minor = match version {
            Version::V2_0 => 0,
            Version::V2_1 => 1,
            _ => 2,
        };
        let size = fs::metadata(place).unwrap().len();
        DataFile { path, fields: ids, columns: numbers, major: 2, minor, size }
    }

    fn deletion_file(&self, fragment: u64, deleted: &[u32]) -> DeletionFile {
        let path = self.folder.join("_deletions").join(format!("{fragment}-1-7.arrow"));
        let rows: datafusion::arrow::array::ArrayRef =
            Arc::new(UInt32Array::from(deleted.to_vec()));
        let batch = RecordBatch::try_from_iter([("row_id", rows)]).unwrap();
        let mut writer =
            IpcWriter::try_new(fs::File::create(path).unwrap(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        DeletionFile {
            file_type: 0,
            read_version: 1,
            id: 7,
            num_deleted_rows: deleted.len() as u64,
        }
    }

    /// Writes a version of what there is so far.
    pub(super) fn commit(&self, version: u64) {
        let manifest = Manifest {
            fields: self.fields.clone(),
            fragments: self.fragments.clone(),
            version,
            // Deletion files, and files of several versions.
            reader_flags: 1 | 256,
            writer_flags: 1 | 256,
        };
        let message = manifest.encode_to_vec();
        let len = u32::try_from(message.len()).unwrap().to_le_bytes();
        let file = [&len[..], &message, &[0; 8], &[0, 0, 2, 0], b"LANC"].concat();
        fs::write(self.folder.join(format!("_versions/{version}.manifest")), file).unwrap();
    }

    pub(super) fn schema(&self) -> Arc<Schema> {
        self.schema.clone()
    }
}
