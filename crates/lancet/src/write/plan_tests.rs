use super::*;
use crate::options::Compression;
use crate::write::test_plans::{int_field, plan, plans, refused};

fn options(columns: Vec<(&str, ColumnOptions)>) -> WriteOptions {
    let add = |options: WriteOptions, (name, column)| options.with_column(name, column);
    columns.into_iter().fold(WriteOptions::default(), add)
}

fn compressed(compression: Compression) -> ColumnOptions {
    ColumnOptions::default().with_compression(compression)
}

/// `s: struct<n: int32, inner: struct<n: int32>>`
fn nested() -> Field {
    let inner = DataType::Struct(Fields::from(vec![int_field()]));
    let fields = Fields::from(vec![int_field(), Field::new("inner", inner, true)]);
    Field::new("s", DataType::Struct(fields), true)
}

fn compressions(options: &WriteOptions) -> Vec<Option<Compression>> {
    let plans = plans(vec![nested()], options).unwrap();
    plans.iter().map(|plan| plan.settings.options.compression).collect()
}

#[test]
fn the_longest_name_says_most_about_a_column() {
    use Compression::{Lz4, Zstd};
    assert_eq!(compressions(&options(vec![])), [None, None]);
    assert_eq!(compressions(&options(vec![("s", compressed(Zstd))])), [Some(Zstd); 2]);
    let columns = vec![("s.inner", compressed(Lz4)), ("s", compressed(Zstd))];
    assert_eq!(compressions(&options(columns)), [Some(Zstd), Some(Lz4)]);
    let columns = vec![("s.inner.n", compressed(Zstd)), ("s.inner", compressed(Lz4))];
    assert_eq!(compressions(&options(columns)), [None, Some(Zstd)]);
}

#[test]
fn metadata_of_a_field_beats_options() {
    let key = "lance-encoding:compression".to_owned();
    let field = int_field().with_metadata([(key, "zstd".to_owned())].into());
    let plan = plan(field, &options(vec![("n", compressed(Compression::Lz4))]));
    assert_eq!(plan.settings.options.compression, Some(Compression::Zstd));
}

#[test]
fn packed_structs_are_one_column() {
    let packed = || ColumnOptions::default().with_packed(true);
    let field = || Field::new("s", DataType::Struct(Fields::from(vec![int_field()])), false);
    let found = plans(vec![field()], &options(vec![("s", packed())])).unwrap();
    assert_eq!((found.len(), found[0].name.as_str()), (1, "s"));
    let columns = vec![("s", packed()), ("s.n", compressed(Compression::Lz4))];
    assert_eq!(
        refused(plans(vec![field()], &options(columns))),
        "`s.n` is a field of a packed struct, which is one column; set options of the struct"
    );
    assert_eq!(
        refused(plans(vec![int_field()], &options(vec![("n", packed())]))),
        "`n` cannot be packed: it is a Int32"
    );
}

#[test]
fn packed_structs_are_marked_wherever_they_are() {
    let fields = Fields::from(vec![int_field()]);
    let item = |data_type| Arc::new(Field::new("item", data_type, true));
    let list = DataType::List(item(DataType::Struct(fields)));
    let packed = ColumnOptions::default().with_packed(true);
    let schema = Arc::new(Schema::new(vec![Field::new("l", list, true)]));
    let (marked, plans) = plan_columns(&schema, &options(vec![("l.item", packed)])).unwrap();
    assert_eq!(plans.len(), 1);
    let DataType::List(item) = marked.field(0).data_type() else { panic!() };
    assert_eq!(item.metadata().get(PACKED_KEYS[0]).map(String::as_str), Some("true"));
}

#[test]
fn options_of_columns_that_are_not_there_are_refused() {
    let what = refused(plans(vec![int_field()], &options(vec![("m", ColumnOptions::default())])));
    assert!(what.contains("`m`"), "{what}");
    let level = ColumnOptions::default().with_compression(Compression::Zstd).with_level(99);
    let what = refused(plans(vec![int_field()], &options(vec![("n", level)])));
    assert!(what.starts_with("column `n`: "), "{what}");
}
