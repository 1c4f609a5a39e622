//! What a projection or a selection of rows should give, made from the whole table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeListArray, ListArray, RecordBatch,
    RecordBatchOptions, StructArray, UInt64Array,
};
use arrow_schema::{DataType, Field, FieldRef, Schema};

/// Every top-level column, and every field below it that can be reached through structs and lists
/// and named without doubt.
pub fn paths(schema: &Schema) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for field in schema.fields() {
        below(vec![field.name().clone()], field, &mut paths);
    }
    paths
}

fn below(path: Vec<String>, field: &Field, paths: &mut Vec<Vec<String>>) {
    let is_struct = |item: &Field| matches!(item.data_type(), DataType::Struct(_));
    let children: Vec<&FieldRef> = match field.data_type() {
        DataType::Struct(children) => children.iter().collect(),
        DataType::List(item) | DataType::LargeList(item) => vec![item],
        DataType::FixedSizeList(item, _) if is_struct(item) => vec![item],
        _ => vec![],
    };
    for child in &children {
        let name = child.name();
        let twins = children.iter().filter(|other| other.name() == name).count();
        if twins == 1 && !name.is_empty() && !name.contains('.') {
            below([path.clone(), vec![name.clone()]].concat(), child, paths);
        }
    }
    paths.push(path);
}

/// The table with only the field at `path`: its parents stay, without their other children.
pub fn project(table: &RecordBatch, path: &[String]) -> RecordBatch {
    let (index, field) =
        table.schema().column_with_name(&path[0]).map(|(i, f)| (i, f.clone())).unwrap();
    let (field, array) = narrow(&Arc::new(field), table.column(index), &path[1..]);
    with_columns(table, vec![field], vec![array])
}

/// The table with only some of its top-level columns.
pub fn project_columns(table: &RecordBatch, columns: &[usize]) -> RecordBatch {
    let fields = columns.iter().map(|&i| table.schema().fields()[i].clone()).collect();
    let arrays = columns.iter().map(|&i| table.column(i).clone()).collect();
    with_columns(table, fields, arrays)
}

fn narrow(field: &FieldRef, array: &ArrayRef, path: &[String]) -> (FieldRef, ArrayRef) {
    let Some((name, rest)) = path.split_first() else {
        return (field.clone(), array.clone());
    };
    let nulls = array.nulls().cloned();
    let narrowed: ArrayRef = match array.data_type() {
        DataType::List(item) => {
            let list = array.as_list::<i32>();
            let (item, values) = narrow(item, list.values(), rest);
            Arc::new(ListArray::new(item, list.offsets().clone(), values, nulls))
        }
        DataType::LargeList(item) => {
            let list = array.as_list::<i64>();
            let (item, values) = narrow(item, list.values(), rest);
            Arc::new(LargeListArray::new(item, list.offsets().clone(), values, nulls))
        }
        DataType::FixedSizeList(item, size) => {
            let (item, values) = narrow(item, array.as_fixed_size_list().values(), rest);
            Arc::new(FixedSizeListArray::new(item, *size, values, nulls))
        }
        _ => {
            let parent = array.as_struct();
            let index = parent.fields().iter().position(|child| child.name() == name).unwrap();
            let (child, values) = narrow(&parent.fields()[index], parent.column(index), rest);
            Arc::new(StructArray::new(vec![child].into(), vec![values], nulls))
        }
    };
    let data_type = narrowed.data_type().clone();
    (Arc::new(field.as_ref().clone().with_data_type(data_type)), narrowed)
}

fn with_columns(table: &RecordBatch, fields: Vec<FieldRef>, columns: Vec<ArrayRef>) -> RecordBatch {
    let schema = Schema::new_with_metadata(fields, table.schema().metadata().clone());
    let options = RecordBatchOptions::new().with_row_count(Some(table.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options).unwrap()
}

/// Rows of the table, in the order given.
pub fn take(table: &RecordBatch, rows: &[u64]) -> RecordBatch {
    let indices = UInt64Array::from(rows.to_vec());
    let take = |array: &ArrayRef| arrow_select::take::take(array, &indices, None).unwrap();
    let columns = table.columns().iter().map(take).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(table.schema(), columns, &options).unwrap()
}
