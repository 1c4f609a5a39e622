//! Arrays of data files to those of the table: names of the table, nulls where a file lacks a field, structs put
//! together from several files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
    make_array, new_null_array,
};
use arrow_schema::{ArrowError, DataType, FieldRef};

use crate::error::{Problem, ensure};
use crate::plan::Part;
use crate::schema::{Kind, Node};

/// The arrays of one field, each with the place of its file in the plan.
pub(crate) type Inputs = Vec<(usize, ArrayRef)>;

/// What fields are made of beside the arrays of data files.
pub(crate) struct Beside {
    /// The bytes of blobs that lie elsewhere, in the order of [`collect_blobs`].
    pub(crate) bytes: std::vec::IntoIter<ArrayRef>,
    /// Bytes that nulls in place of missing fields may take.
    pub(crate) limit: u64,
    pub(crate) spent: u64,
}

impl Beside {
    /// Nulls have the width of values, and a schema can name types of any width.
    fn claim_nulls(&mut self, data_type: &DataType, len: usize) -> Result<(), Problem> {
        let bytes = null_bytes(data_type).saturating_mul(len as u64);
        self.spent = self.spent.saturating_add(bytes);
        let (needed, limit) = (self.spent, self.limit);
        if needed > limit {
            return Err(Problem::Limit { needed, limit, option: "memory_limit" });
        }
        Ok(())
    }
}

/// Bytes of a null of a type, about.
pub(crate) fn null_bytes(data_type: &DataType) -> u64 {
    match data_type {
        DataType::FixedSizeBinary(size) => u64::try_from(*size).unwrap_or(0).saturating_add(1),
        DataType::FixedSizeList(item, size) => {
            let size = u64::try_from(*size).unwrap_or(0);
            null_bytes(item.data_type()).saturating_mul(size).saturating_add(1)
        }
        DataType::Struct(fields) => {
            let bytes = fields.iter().map(|field| null_bytes(field.data_type()));
            bytes.fold(1, u64::saturating_add)
        }
        DataType::Decimal256(..) => 32,
        _ => 16,
    }
}

/// The array of a field.
pub(crate) fn assemble(
    node: &Node,
    part: &Part,
    inputs: Inputs,
    len: usize,
    beside: &mut Beside,
) -> Result<ArrayRef, Problem> {
    let array = match part {
        Part::Missing => {
            beside.claim_nulls(node.field.data_type(), len)?;
            return null_array(node, len);
        }
        Part::Leaf(_) => leaf(node, only(inputs)?, beside)?,
        Part::Group { children, .. } => group(node, children, inputs, beside)?,
    };
    ensure!(
        array.len() == len,
        "field `{}` has {} values where {len} were asked for",
        node.field.name(),
        array.len()
    );
    Ok(array)
}

/// Goes through the fields in the order of [`assemble`] and collects the descriptions of blobs of the second kind, each
/// with the place of its file in the plan.
pub(crate) fn collect_blobs(
    node: &Node,
    part: &Part,
    inputs: Inputs,
    out: &mut Vec<(usize, ArrayRef)>,
) -> Result<(), Problem> {
    match part {
        Part::Missing => Ok(()),
        Part::Leaf(_) if node.kind == Kind::BlobV2 => {
            out.extend(inputs);
            Ok(())
        }
        Part::Leaf(_) => Ok(()),
        Part::Group { children, .. } => {
            for (child, part, inputs) in shared_out(node, children, &inputs)? {
                collect_blobs(child, part, inputs, out)?;
            }
            Ok(())
        }
    }
}

/// Whether a field is or holds a blob of the second kind.
pub(crate) fn has_blob_v2(node: &Node) -> bool {
    node.kind == Kind::BlobV2 || node.children.iter().any(has_blob_v2)
}

fn null_array(node: &Node, len: usize) -> Result<ArrayRef, Problem> {
    let field = &node.field;
    if field.is_nullable() || len == 0 {
        return Ok(new_null_array(field.data_type(), len));
    }
    // A struct that cannot be null may have children that can.
    ensure!(
        node.kind == Kind::Struct && !node.children.is_empty(),
        "field `{}` cannot be null, but the fragment lacks it",
        field.name()
    );
    let children = node.children.iter().map(|child| null_array(child, len));
    structure(field, children.collect::<Result<_, _>>()?, None)
}

fn only(inputs: Inputs) -> Result<ArrayRef, Problem> {
    match <[_; 1]>::try_from(inputs) {
        Ok([(_, array)]) => Ok(array),
        Err(_) => Err(disagree("a column")),
    }
}

fn leaf(node: &Node, array: ArrayRef, beside: &mut Beside) -> Result<ArrayRef, Problem> {
    let wanted = node.field.data_type();
    let is_elsewhere = node.kind == Kind::BlobV2 && *wanted == DataType::LargeBinary;
    let array = if is_elsewhere { beside.bytes.next().unwrap_or(array) } else { array };
    if array.data_type() == wanted {
        return Ok(array);
    }
    // Names below a column are those of the file.
    if is_alike(array.data_type(), wanted) {
        let data = array.to_data().into_builder().data_type(wanted.clone());
        return Ok(make_array(data.build().map_err(refused)?));
    }
    Err(Problem::corrupt(format!(
        "field `{}` is {wanted} in the table, but {} in the data file",
        node.field.name(),
        array.data_type()
    )))
}

/// Whether two types differ in names only.
fn is_alike(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| is_alike(a.data_type(), b.data_type()))
        }
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) => {
            n == m && is_alike(a.data_type(), b.data_type())
        }
        _ => a == b,
    }
}

/// What each child is made of: arrays of the files that have something of it.
fn shared_out<'a>(
    node: &'a Node,
    children: &'a [Part],
    inputs: &Inputs,
) -> Result<Vec<(&'a Node, &'a Part, Inputs)>, Problem> {
    // The children that a file has come in their order.
    let mut parts = Vec::with_capacity(inputs.len());
    for (input, array) in inputs {
        parts.push((*input, below(node, array)?.into_iter()));
    }
    let mut out = Vec::with_capacity(children.len());
    for (child, part) in node.children.iter().zip(children) {
        let has = |input: usize| match part {
            Part::Missing => false,
            Part::Leaf(place) => *place == input,
            Part::Group { inputs, .. } => inputs.contains(&input),
        };
        let mut of_child = Vec::new();
        for (input, arrays) in parts.iter_mut().filter(|(input, _)| has(*input)) {
            of_child.push((*input, arrays.next().ok_or_else(|| disagree(node.field.name()))?));
        }
        out.push((child, part, of_child));
    }
    let is_left = parts.iter().any(|(_, arrays)| arrays.len() > 0);
    ensure!(!is_left, "the data file has more children of `{}` than listed", node.field.name());
    Ok(out)
}

/// The arrays below that of a field.
fn below(node: &Node, array: &ArrayRef) -> Result<Vec<ArrayRef>, Problem> {
    let found = match node.kind {
        Kind::Struct | Kind::PackedStruct => {
            array.as_struct_opt().map(|array| array.columns().to_vec())
        }
        Kind::List => array.as_list_opt::<i32>().map(|array| vec![array.values().clone()]),
        Kind::LargeList => array.as_list_opt::<i64>().map(|array| vec![array.values().clone()]),
        Kind::Map => match array.data_type() {
            DataType::Map(..) => {
                array.as_map_opt().map(|map| vec![Arc::new(map.entries().clone()) as ArrayRef])
            }
            _ => None,
        },
        Kind::FixedSizeList => {
            array.as_fixed_size_list_opt().map(|array| vec![array.values().clone()])
        }
        Kind::Leaf | Kind::Blob | Kind::BlobV2 => None,
    };
    found.ok_or_else(|| {
        Problem::corrupt(format!(
            "field `{}` is {} in the table, but {} in the data file",
            node.field.name(),
            node.field.data_type(),
            array.data_type()
        ))
    })
}

fn group(
    node: &Node,
    children: &[Part],
    inputs: Inputs,
    beside: &mut Beside,
) -> Result<ArrayRef, Problem> {
    let Some((_, first)) = inputs.first().cloned() else {
        return Err(disagree(node.field.name()));
    };
    for (_, other) in inputs.iter().skip(1) {
        ensure!(
            is_same_shape(&first, other),
            "the data files disagree on the lengths of `{}`",
            node.field.name()
        );
    }
    let mut arrays = Vec::with_capacity(children.len());
    for (child, part, inputs) in shared_out(node, children, &inputs)? {
        let len = match inputs.first() {
            Some((_, array)) => array.len(),
            // A child that no file has is as long as those beside it.
            None => first.len(),
        };
        arrays.push(assemble(child, part, inputs, len, beside)?);
    }
    let field = &node.field;
    match node.kind {
        Kind::List => list::<i32>(field, &first, arrays),
        Kind::LargeList => list::<i64>(field, &first, arrays),
        Kind::Map => map(field, &first, arrays),
        Kind::FixedSizeList => fixed_size_list(field, &first, arrays),
        _ => structure(field, arrays, first.nulls().cloned()),
    }
}

/// Whether lists have the same lengths, and structs the same number of values.
fn is_same_shape(a: &ArrayRef, b: &ArrayRef) -> bool {
    let offsets = |array: &ArrayRef| -> Option<Vec<i64>> {
        match array.data_type() {
            DataType::List(_) => Some(
                array.as_list::<i32>().value_offsets().iter().map(|at| i64::from(*at)).collect(),
            ),
            DataType::LargeList(_) => Some(array.as_list::<i64>().value_offsets().to_vec()),
            DataType::Map(..) => {
                Some(array.as_map().value_offsets().iter().map(|at| i64::from(*at)).collect())
            }
            _ => None,
        }
    };
    a.len() == b.len() && offsets(a) == offsets(b)
}

fn structure(
    field: &FieldRef,
    arrays: Vec<ArrayRef>,
    nulls: Option<arrow_buffer::NullBuffer>,
) -> Result<ArrayRef, Problem> {
    let DataType::Struct(fields) = field.data_type() else { return Err(disagree(field.name())) };
    let array = StructArray::try_new(fields.clone(), arrays, nulls).map_err(refused)?;
    Ok(Arc::new(array))
}

fn list<O: OffsetSizeTrait>(
    field: &FieldRef,
    like: &ArrayRef,
    mut arrays: Vec<ArrayRef>,
) -> Result<ArrayRef, Problem> {
    let (DataType::List(item) | DataType::LargeList(item), Some(items), Some(like)) =
        (field.data_type(), arrays.pop(), like.as_list_opt::<O>())
    else {
        return Err(disagree(field.name()));
    };
    let (offsets, nulls) = (like.offsets().clone(), like.nulls().cloned());
    let array = GenericListArray::try_new(item.clone(), offsets, items, nulls).map_err(refused)?;
    Ok(Arc::new(array))
}

fn map(field: &FieldRef, like: &ArrayRef, mut arrays: Vec<ArrayRef>) -> Result<ArrayRef, Problem> {
    let (DataType::Map(entries, sorted), Some(array), Some(like)) =
        (field.data_type(), arrays.pop(), like.as_map_opt())
    else {
        return Err(disagree(field.name()));
    };
    let Some(values) = array.as_struct_opt().cloned() else { return Err(disagree(field.name())) };
    let (offsets, nulls) = (like.offsets().clone(), like.nulls().cloned());
    let array = MapArray::try_new(entries.clone(), offsets, values, nulls, *sorted);
    Ok(Arc::new(array.map_err(refused)?))
}

fn fixed_size_list(
    field: &FieldRef,
    like: &ArrayRef,
    mut arrays: Vec<ArrayRef>,
) -> Result<ArrayRef, Problem> {
    let (DataType::FixedSizeList(item, size), Some(items)) = (field.data_type(), arrays.pop())
    else {
        return Err(disagree(field.name()));
    };
    let array = FixedSizeListArray::try_new(item.clone(), *size, items, like.nulls().cloned());
    Ok(Arc::new(array.map_err(refused)?))
}

fn disagree(name: &str) -> Problem {
    Problem::corrupt(format!(
        "the data files and the manifest disagree on what `{name}` is made of"
    ))
}

fn refused(error: ArrowError) -> Problem {
    Problem::corrupt(error.to_string())
}
