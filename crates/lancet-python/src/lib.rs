//! The extension module `lancet._lancet`: what the Python package cannot do in Python.
//!
//! The package in `python/lancet` has the classes that people use, their documentation and the ways to other libraries.
//! This module has few classes, which are not for people, and does the work: reads, writes, filters, Arrow data in
//! and out. It lets go of the interpreter while it works, and looks for Ctrl-C.
//!
//! | module | what |
//! |---|---|
//! | `work` | runs work without the interpreter; panics become errors, Ctrl-C ends it |
//! | `errors` | errors of lancet as exceptions of Python |
//! | `capsules`, `imported` | Arrow data from and to other libraries: the PyCapsule interface |
//! | `data`, `schema`, `column` | rows in memory, what they are, and one column of them |
//! | `memory` | whose the memory of rows is, and how much they take |
//! | `columns`, `typed` | columns out of arrays and lists of Python; out of values, as a type has them |
//! | `parts` | rows that come in several parts |
//! | `tensor` | numbers of a column as numpy and DLPack have them, without a copy |
//! | `values`, `object_array` | values as objects of Python; such objects in arrays of numpy |
//! | `rows` | numbers and ranges of rows, from what Python has |
//! | `literals`, `filter` | conditions, from what Python has |
//! | `options`, `source` | how files are read; bytes that objects of Python give |
//! | `reader`, `batches`, `blobs`, `reports` | files |
//! | `table`, `table_reports` | tables |
//! | `changes`, `merge`, `shape` | changes of tables: their rows, by keys, and their columns, files and names |
//! | `writer` | new files |
//! | `program` | the program `lancet` |

mod batches;
mod blobs;
mod capsules;
mod changes;
mod column;
mod columns;
mod data;
mod errors;
mod filter;
mod imported;
mod literals;
mod memory;
mod merge;
mod object_array;
mod options;
mod parts;
mod program;
mod reader;
mod reports;
mod rows;
mod schema;
mod shape;
mod source;
mod table;
mod table_reports;
mod tensor;
mod typed;
mod values;
mod work;
mod writer;

/// What the Python package is made of.
#[pyo3::pymodule]
mod _lancet {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::batches::Batches;
    #[pymodule_export]
    use crate::blobs::Blobs;
    #[pymodule_export]
    use crate::changes::{
        append_rows, create_table, delete_rows, overwrite_rows, set_values, update_rows,
    };
    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::data::Data;
    #[pymodule_export]
    use crate::merge::merge_rows;
    #[pymodule_export]
    use crate::program::run;
    #[pymodule_export]
    use crate::reader::{Projection, Reader};
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::shape::{
        add_columns, add_constant_columns, add_null_columns, cleanup, compact, create_branch,
        create_tag, delete_branch, delete_tag, drop_columns, rename_column, reorder_columns,
        restore, retype_column, set_nullable, shallow_clone,
    };
    #[pymodule_export]
    use crate::table::{TableProjection, TableReader};
    #[pymodule_export]
    use crate::table_reports::{inspect_table, table_bytes, table_statistics};
    #[pymodule_export]
    use crate::tensor::Tensor;
    #[pymodule_export]
    use crate::work::abandon_files;
    #[pymodule_export]
    use crate::writer::Writer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::work::note_main_thread();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
