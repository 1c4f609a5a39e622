//! The verbs that change columns, files and names: on disk and in a store they do the same, step by step.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use futures::{Stream, TryStreamExt, stream};
use lancet_object_store::object_store::memory::InMemory;
use lancet_object_store::object_store::path::Path;
use lancet_table::{
    At, CleanupOptions, CompactOptions, Error, Flags, Manifest, Result, RowStream, StoreTable,
    Table, TableRows, TableWriteOptions,
};

/// A table of either kind.
enum Any {
    Disk(Table),
    Store(StoreTable),
}

/// The same call on both; that of a store is waited for.
macro_rules! both {
    ($any:expr, $table:ident => $call:expr) => {
        match $any {
            Any::Disk($table) => $call,
            Any::Store($table) => wait($call),
        }
    };
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn options() -> TableWriteOptions {
    TableWriteOptions::default().with_max_rows_per_fragment(8).with_stable_row_ids(true)
}

fn cities(keys: std::ops::Range<i64>) -> RecordBatch {
    let names = StringArray::from_iter_values(keys.clone().map(|key| format!("city {key}")));
    let columns: [(&str, ArrayRef); 2] =
        [("k", Arc::new(Int64Array::from_iter_values(keys))), ("name", Arc::new(names))];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn reader(batch: &RecordBatch) -> impl RecordBatchReader + use<> {
    RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
}

fn streamed(batch: &RecordBatch) -> RowStream<impl Stream<Item = Result<RecordBatch>> + use<>> {
    RowStream::new(batch.schema(), stream::iter([Ok::<_, Error>(batch.clone())]))
}

impl Any {
    fn manifest(&self) -> &Manifest {
        match self {
            Self::Disk(table) => table.manifest(),
            Self::Store(table) => table.manifest(),
        }
    }

    fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Disk(table) => table.append_with(reader(batch), &options()).map(drop),
            Self::Store(table) => wait(table.append(streamed(batch), &options())).map(drop),
        }
    }

    fn delete(&mut self, numbers: &[u64]) -> Result<()> {
        let rows = TableRows::from(numbers);
        match self {
            Self::Disk(table) => table.delete_with(rows, "", &options()).map(drop),
            Self::Store(table) => wait(table.delete(rows, "", &options())).map(drop),
        }
    }

    fn add_values(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Disk(table) => table.add_column_values(reader(batch), &options()),
            Self::Store(table) => wait(table.add_column_values(streamed(batch), &options())),
        }
    }

    fn checkout(&self, at: At) -> Result<Self> {
        Ok(match self {
            Self::Disk(table) => Self::Disk(table.checkout(at)?),
            Self::Store(table) => Self::Store(wait(table.checkout(at))?),
        })
    }

    fn branch(&self, name: &str) -> Result<Self> {
        Ok(match self {
            Self::Disk(table) => Self::Disk(table.create_branch(name)?),
            Self::Store(table) => Self::Store(wait(table.create_branch(name))?),
        })
    }

    /// A clone beside the table.
    fn shallow_clone(&self, name: &str) -> Result<Self> {
        Ok(match self {
            Self::Disk(table) => {
                Self::Disk(table.shallow_clone(table.folder().with_file_name(name))?)
            }
            Self::Store(table) => Self::Store(wait(table.shallow_clone(Path::from(name)))?),
        })
    }

    /// All rows as text, with their ids and versions.
    fn rows(&self) -> Vec<String> {
        let manifest = self.manifest();
        let schema = manifest.schema().unwrap();
        let mut columns: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        if manifest.reader_flags.contains(Flags::STABLE_ROW_IDS) {
            let more = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"];
            columns.extend(more.map(str::to_owned));
        }
        let batches: Vec<RecordBatch> = match self {
            Self::Disk(table) => {
                table.scan().columns(columns).build().unwrap().map(|batch| batch.unwrap()).collect()
            }
            Self::Store(table) => wait(async {
                let batches = table.scan().columns(columns).stream().await.unwrap();
                batches.try_collect().await.unwrap()
            }),
        };
        let rows =
            batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |at| (batch, at)));
        let text = |(batch, at): (&RecordBatch, usize)| {
            batch.columns().iter().map(|array| format!("{:?}", array.slice(at, 1))).collect()
        };
        rows.map(text).collect()
    }

    /// What anybody sees of it.
    fn seen(&self) -> String {
        let manifest = self.manifest();
        let fragments = manifest.fragments.iter().map(|fragment| {
            (fragment.id, fragment.files.len(), fragment.physical_rows, fragment.num_deleted_rows())
        });
        let versions = match self {
            Self::Disk(table) => table.versions(),
            Self::Store(table) => table.versions(),
        };
        format!(
            "version {} of {versions:?}, {}, {:?}, tags {:?}, branches {:?}, rows {:?}",
            manifest.version,
            manifest.schema().unwrap(),
            fragments.collect::<Vec<_>>(),
            both!(self, table => table.tags()).unwrap(),
            both!(self, table => table.branches()).unwrap(),
            self.rows(),
        )
    }
}

fn column(name: &str, kind: DataType) -> Arc<Schema> {
    Arc::new(Schema::new(vec![Field::new(name, kind, true)]))
}

/// Does everything; notes what was told and what is seen after each step.
fn history(mut table: Any) -> Vec<String> {
    let mut notes = Vec::new();
    let mut step = |what: &str, told: String, table: &Any| {
        notes.push(format!("{what}: {told}\n{}", table.seen()));
    };
    table.append(&cities(20..30)).unwrap();
    table.delete(&[1, 2, 9]).unwrap();
    step("begin", String::new(), &table);

    both!(&mut table, t => t.add_null_columns(&column("nothing", DataType::Utf8), &options()))
        .unwrap();
    step("add nulls", String::new(), &table);
    let twice = column("twice", DataType::Int64);
    let values = |rows: &RecordBatch| {
        let array: Int64Array = rows["k"].as_primitive::<Int64Type>().unary(|n| n * 2);
        Ok(RecordBatch::try_new(twice.clone(), vec![Arc::new(array)])?)
    };
    both!(&mut table, t => t.add_columns(twice.clone(), ["k"], values, &options())).unwrap();
    step("add values", String::new(), &table);
    let seven = || Arc::new(Int32Array::from(vec![7])) as ArrayRef;
    let field = Field::new("seven", DataType::Int32, false);
    both!(&mut table, t => t.add_constant_column(field.clone(), seven(), &options())).unwrap();
    step("add a constant", String::new(), &table);
    let count = i64::try_from(table.rows().len()).unwrap();
    let given = Arc::new(Int64Array::from_iter_values(0..count));
    let given = RecordBatch::try_new(column("given", DataType::Int64), vec![given]).unwrap();
    table.add_values(&given).unwrap();
    step("add given values", String::new(), &table);

    both!(&mut table, t => t.rename_column("name", "city", &options())).unwrap();
    both!(&mut table, t => t.reorder_columns(&["twice", "city"], &options())).unwrap();
    both!(&mut table, t => t.drop_columns(&["nothing"], &options())).unwrap();
    both!(&mut table, t => t.set_nullable("city", false, &options())).unwrap();
    both!(&mut table, t => t.set_nullable("city", true, &options())).unwrap();
    step("rename, reorder, drop", String::new(), &table);
    let to_text = |array: &ArrayRef| {
        let numbers = array.as_primitive::<Int64Type>().iter();
        Ok(Arc::new(numbers.map(|n| n.map(|n| n.to_string())).collect::<StringArray>()) as ArrayRef)
    };
    both!(&mut table, t => t.retype_column("twice", &DataType::Utf8, to_text, &options())).unwrap();
    step("retype", String::new(), &table);

    let plan = CompactOptions::default().with_target_rows(100);
    let told = both!(&mut table, t => t.compact(&plan, &options())).unwrap();
    // Bytes may differ by nothing but where the file was written.
    step("compact", format!("{told:?}"), &table);
    let old = table.checkout(At::Version(3)).unwrap();
    both!(&old, t => t.create_tag("third")).unwrap();
    both!(&table, t => t.create_tag("now")).unwrap();
    both!(&table, t => t.create_tag("later")).unwrap();
    both!(&old, t => t.move_tag("later")).unwrap();
    both!(&table, t => t.delete_tag("now")).unwrap();
    step("tags", String::new(), &table);
    step("a tag", String::new(), &table.checkout(At::Tag("later".into())).unwrap());
    let mut branch = old.branch("dev/one").unwrap();
    branch.append(&cities(40..43)).unwrap();
    step("a branch", String::new(), &branch);
    drop(old.branch("dev/two").unwrap());
    both!(&table, t => t.delete_branch("dev/two")).unwrap();
    let mut clone = table.shallow_clone("clone.lance").unwrap();
    clone.delete(&[0]).unwrap();
    step("a clone", String::new(), &clone);

    for (what, refused) in refusals(&mut table) {
        step(what, refused.to_string(), &table);
    }
    let mut before = table.checkout(At::Version(2)).unwrap();
    both!(&mut before, t => t.restore(&options())).unwrap();
    step("restore", String::new(), &before);
    let all = CleanupOptions::default().with_older_than(Duration::ZERO);
    let dry = both!(&before, t => t.cleanup(&all.clone().with_dry_run(true))).unwrap();
    let told = both!(&before, t => t.cleanup(&all)).unwrap();
    assert_eq!((&dry.versions, &dry.files), (&told.versions, &told.files));
    let kinds = told.files.iter().map(|file| file.split('/').next().unwrap());
    let told = format!("{:?} {:?}", told.versions, kinds.collect::<Vec<_>>());
    step("cleanup", told, &table.checkout(At::Latest).unwrap());
    step("the branch then", String::new(), &table.checkout(At::Branch("dev/one".into())).unwrap());
    step("the tag then", String::new(), &table.checkout(At::Tag("third".into())).unwrap());
    notes
}

/// What none of the two does.
fn refusals(table: &mut Any) -> Vec<(&'static str, Error)> {
    let no = |_: &ArrayRef| -> Result<ArrayRef> { panic!("there is nothing to convert") };
    vec![
        ("a tag twice", both!(&*table, t => t.create_tag("third")).unwrap_err()),
        ("no tag", both!(&*table, t => t.move_tag("none")).unwrap_err()),
        ("no tag to delete", both!(&*table, t => t.delete_tag("none")).unwrap_err()),
        ("a branch twice", table.branch("dev/one").err().unwrap()),
        ("no branch", both!(&*table, t => t.delete_branch("none")).unwrap_err()),
        ("no column", both!(&mut *table, t => t.drop_columns(&["none"], &options())).unwrap_err()),
        (
            "a name twice",
            both!(&mut *table, t => t.rename_column("k", "city", &options())).unwrap_err(),
        ),
        (
            "no type",
            both!(&mut *table, t => t.retype_column("none", &DataType::Utf8, no, &options()))
                .unwrap_err(),
        ),
    ]
}

#[test]
fn tables_on_disk_and_in_stores_do_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("t.lance");
    let disk = Table::create_with(&place, reader(&cities(0..20)), &options()).unwrap();
    let (store, path) = (Arc::new(InMemory::new()), Path::from("t.lance"));
    let created =
        wait(StoreTable::create(store, path, streamed(&cities(0..20)), &options())).unwrap();
    let (disk, store) = (history(Any::Disk(disk)), history(Any::Store(created)));
    assert_eq!(disk.len(), store.len());
    for (disk, store) in disk.iter().zip(&store) {
        assert_eq!(disk, store);
    }
    assert!(disk.len() > 20);
}
