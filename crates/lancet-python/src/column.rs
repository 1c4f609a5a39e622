//! One column of rows in memory.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, FieldRef};
use arrow_select::concat::concat;
use arrow_select::nullif::nullif;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::capsules::array_out;
use crate::errors::{OrRaise, unknown_column};
use crate::memory::Memory;
use crate::object_array::put_objects;
use crate::tensor::{Tensor, flags, tensor};
use crate::values::objects;
use crate::work::run;

/// One column: an array for each batch.
#[pyclass(frozen, module = "lancet._lancet")]
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) field: FieldRef,
    pub(crate) arrays: Vec<ArrayRef>,
    pub(crate) memory: Memory,
}

impl Column {
    fn whole(&self, py: Python<'_>) -> PyResult<ArrayRef> {
        match self.arrays.as_slice() {
            [] => Ok(new_empty_array(self.field.data_type())),
            [array] => Ok(array.clone()),
            many => {
                run(py, || concat(&many.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>()))
            }
        }
    }
}

#[pymethods]
impl Column {
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// Its type, in words.
    #[getter]
    fn r#type(&self) -> String {
        self.field.data_type().to_string()
    }

    #[getter]
    fn null_count(&self) -> usize {
        self.arrays.iter().map(|array| array.logical_null_count()).sum()
    }

    fn __len__(&self) -> usize {
        self.arrays.iter().map(|array| array.len()).sum()
    }

    /// A field of a struct, or of one inside it, with dots between names.
    pub(crate) fn child(&self, name: &str) -> PyResult<Self> {
        let unknown = || {
            let DataType::Struct(fields) = self.field.data_type() else {
                return unknown_column(&format!("`{}` is no struct", self.field.name()));
            };
            let known = fields.iter().map(|field| format!("`{}`", field.name()));
            let known = known.collect::<Vec<_>>().join(", ");
            unknown_column(&format!(
                "`{}` has no field `{name}`; it has {known}",
                self.field.name()
            ))
        };
        let DataType::Struct(fields) = self.field.data_type() else { return Err(unknown()) };
        let found = fields.iter().enumerate().find_map(|(index, field)| {
            let rest = name.strip_prefix(field.name().as_str())?;
            (rest.is_empty() || rest.starts_with('.')).then_some((index, field.clone(), rest))
        });
        let (index, field, rest) = found.ok_or_else(unknown)?;
        let arrays = self.arrays.iter().map(|array| {
            let rows = array.as_struct();
            let values = rows.column(index);
            // A field of a struct that is null is null.
            match rows.nulls() {
                Some(nulls) if nulls.null_count() > 0 => nullif(values, &(!nulls.inner()).into()),
                _ => Ok(values.clone()),
            }
        });
        let arrays = arrays.collect::<Result<_, _>>().or_raise()?;
        let column = Self { field, arrays, memory: self.memory };
        match rest.strip_prefix('.') {
            Some(rest) => column.child(rest),
            None => Ok(column),
        }
    }

    /// Its numbers, for each batch, whatever they are where it is null; none if it has no numbers.
    fn tensors(&self) -> Option<Vec<Tensor>> {
        if self.arrays.is_empty() {
            let empty = new_empty_array(self.field.data_type());
            return tensor(&empty, Memory::Own).map(|empty| vec![empty]);
        }
        self.arrays.iter().map(|array| tensor(array, self.memory)).collect()
    }

    /// For each row whether it has a value; none if all have.
    fn validity(&self) -> Option<Tensor> {
        if self.null_count() == 0 {
            return None;
        }
        let mut valid = Vec::with_capacity(self.__len__());
        for array in &self.arrays {
            match array.logical_nulls() {
                Some(nulls) => valid.extend(nulls.iter().map(u8::from)),
                None => valid.resize(valid.len().saturating_add(array.len()), 1),
            }
        }
        Some(flags(valid))
    }

    /// Its values as objects of Python.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut all = Vec::with_capacity(self.__len__());
        for array in &self.arrays {
            all.extend(objects(py, array)?);
        }
        PyList::new(py, all)
    }

    /// Puts its values as objects of Python into an array of numpy, from a place on.
    fn put_objects(&self, py: Python<'_>, target: &Bound<'_, PyAny>, at: usize) -> PyResult<()> {
        let mut at = at;
        for array in &self.arrays {
            at = put_objects(target, at, objects(py, array)?)?;
        }
        Ok(())
    }

    /// The lists of a column of lists, each as a column of its own; none for other types. Null lists are `None`.
    fn lists(&self) -> Option<Vec<Option<Self>>> {
        let mut all = Vec::with_capacity(self.__len__());
        for array in &self.arrays {
            let (values, nulls): (Vec<ArrayRef>, Option<&NullBuffer>) = match array.data_type() {
                DataType::List(_) => {
                    let lists = array.as_list::<i32>();
                    ((0..lists.len()).map(|at| lists.value(at)).collect(), lists.nulls())
                }
                DataType::LargeList(_) => {
                    let lists = array.as_list::<i64>();
                    ((0..lists.len()).map(|at| lists.value(at)).collect(), lists.nulls())
                }
                _ => return None,
            };
            let (DataType::List(item) | DataType::LargeList(item)) = array.data_type() else {
                return None;
            };
            all.extend(values.into_iter().enumerate().map(|(at, values)| {
                let valid = nulls.is_none_or(|nulls| nulls.is_valid(at));
                valid.then(|| Self {
                    field: item.clone(),
                    arrays: vec![values],
                    memory: self.memory,
                })
            }));
        }
        Some(all)
    }

    fn slice(&self, start: usize, len: usize) -> Self {
        let (mut skip, mut left) = (start, len);
        let mut arrays = Vec::new();
        for array in &self.arrays {
            let from = skip.min(array.len());
            skip = skip.saturating_sub(array.len());
            let count = left.min(array.len().saturating_sub(from));
            if count > 0 {
                arrays.push(array.slice(from, count));
                left = left.saturating_sub(count);
            }
        }
        Self { field: self.field.clone(), arrays, memory: self.memory }
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        array_out(py, &self.whole(py)?, &self.field)
    }
}
