//! Holds container and schema against files of the reference.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_schema::Schema;
use bytes::Bytes;
use prost::Message;

use super::{Column, FileIndex, PageEncoding, Tail, tail_span, write};
use crate::proto::any;
use crate::proto::file::FileDescriptor;
use crate::schema::value_type::value_type;
use crate::schema::{columns, fields};
use crate::span::Span;
use crate::version::Version;

fn open(file: &Bytes, guess: u64) -> FileIndex {
    let len = file.len() as u64;
    let span = tail_span(len, guess);
    let mut tail = Tail::parse(len, span.start(), slice(file, &span)).unwrap();
    loop {
        let spans = tail.missing(u64::MAX);
        if spans.is_empty() {
            return tail.into_index().unwrap();
        }
        tail.supply(&spans, spans.iter().map(|span| slice(file, span)).collect()).unwrap();
    }
}

fn slice(file: &Bytes, span: &Span) -> Bytes {
    span.cut(0, file).unwrap()
}

/// Parses everything around the pages, checks it against itself, and writes it again.
fn check(file: &Bytes) -> FileIndex {
    let index = open(file, 4096);
    let nodes = columns::columns_of(&index.schema).unwrap();
    assert_eq!(columns::num_columns(&nodes), index.columns.len());
    for leaf in columns::leaves(&nodes) {
        value_type(leaf).unwrap();
        check_column(file, &index, leaf.column);
    }
    check_tail(file, &index);
    index
}

fn check_column(file: &Bytes, index: &FileIndex, number: u32) {
    let bytes = slice(file, &index.columns[number as usize]);
    let column = Column::parse(&bytes, index, number).unwrap();
    let pages = column.pages.into_iter().map(|page| write::WrittenPage {
        buffers: page.buffers,
        length: page.num_rows,
        // Fixed-size lists of structs multiply lengths, but not this.
        priority: page.first_row / (column.num_rows / index.num_rows),
        encoding: match page.encoding {
            PageEncoding::Layout(layout) => any::wrap(&layout),
            PageEncoding::EarlyLayout(_) | PageEncoding::Array(_) => panic!("not of 2.1 or 2.2"),
        },
    });
    assert_eq!(write::encode_column(&pages.collect::<Vec<_>>(), false, None), bytes);
}

fn check_tail(file: &Bytes, index: &FileIndex) {
    let stored = slice(file, &index.global_buffers[0]);
    let old = FileDescriptor::decode(stored.clone()).unwrap();
    let (schema, _) = fields::from_arrow(&index.schema, index.version).unwrap();
    let descriptor = FileDescriptor { schema: Some(schema), length: index.num_rows };
    assert_eq!(descriptor, old);
    // The reference writes maps in any order.
    let schema = old.schema.as_ref().unwrap();
    let maps = schema.fields.iter().map(|f| &f.metadata).chain([&schema.metadata]);
    if maps.map(|map| map.len()).max() > Some(1) {
        return;
    }
    let columns: Vec<_> = index.columns.iter().map(|c| slice(file, c).to_vec()).collect();
    let tail = write::encode_tail(
        index.version,
        &descriptor,
        &columns,
        &index.global_buffers[1..],
        index.data_end,
    );
    assert_eq!(tail.unwrap(), file[index.data_end as usize..]);
}

fn arrow_schema(path: &Path) -> Schema {
    let file = File::open(path).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    reader.schema().as_ref().clone()
}

#[test]
fn own_golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, version) in [("names_v21", Version::V2_1), ("type_bfloat16_v22", Version::V2_2)] {
        let file = fs::read(folder.join(format!("{name}.lance"))).unwrap().into();
        assert_eq!(check(&file).version, version);
    }
}

/// Runs over the whole corpus where it lies beside the repository.
#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/lance");
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut checked = 0;
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if !name.ends_with("_v21.lance") && !name.ends_with("_v22.lance") {
            continue;
        }
        println!("{name}");
        let index = check(&fs::read(&path).unwrap().into());
        let arrow: PathBuf = path.with_extension("arrow");
        assert_eq!(*index.schema, arrow_schema(&arrow), "{name}");
        checked += 1;
    }
    assert!(checked > 200);
}
