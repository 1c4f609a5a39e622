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
//! | `capsules` | Arrow data from and to other libraries: the PyCapsule interface |
//! | `data`, `schema`, `column` | rows in memory, what they are, and one column of them |
//! | `columns` | columns out of arrays and lists of Python |
//! | `tensor` | numbers of a column as numpy and DLPack have them, without a copy |
//! | `values` | values as objects of Python |
//! | `rows` | numbers and ranges of rows, from what Python has |
//! | `literals`, `filter` | conditions, from what Python has |
//! | `options`, `source` | how files are read; bytes that objects of Python give |
//! | `reader`, `batches`, `blobs`, `reports` | files |
//! | `table` | tables |
//! | `writer` | new files |
//! | `program` | the program `lancet` |

mod batches;
mod blobs;
mod capsules;
mod column;
mod columns;
mod data;
mod errors;
mod filter;
mod literals;
mod options;
mod program;
mod reader;
mod reports;
mod rows;
mod schema;
mod source;
mod table;
mod tensor;
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
    use crate::column::Column;
    #[pymodule_export]
    use crate::data::Data;
    #[pymodule_export]
    use crate::program::run;
    #[pymodule_export]
    use crate::reader::{Projection, Reader};
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::table::{TableProjection, TableReader};
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
