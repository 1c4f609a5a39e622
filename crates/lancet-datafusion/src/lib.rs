//! Lance files as tables of DataFusion.
//!
//! ```
//! # use datafusion::prelude::SessionContext;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("orders.lance");
//! # let path = path.display();
//! let ctx = SessionContext::new().enable_url_table();
//! lancet_datafusion::register(&ctx)?;
//! ctx.sql(&format!("COPY (VALUES (1, 'a'), (2, 'b')) TO '{path}'")).await?.collect().await?;
//! let found = ctx.sql(&format!("SELECT column2 FROM '{path}' WHERE column1 = 2")).await?;
//! assert_eq!(found.count().await?, 1);
//! # Ok(())
//! # }
//! ```
//!
//! | module | what |
//! |---|---|
//! | `format` | schema and statistics of files, and the plans that read and write them |
//! | `statistics` | what is known of columns without reading them |
//! | `options` | the options of `STORED AS LANCE` and `COPY` |
//! | `files` | open files, shared by all who read them |
//! | `source` | what a scan was asked for: columns, filters |
//! | `opener` | one file of a scan: expressions fitted to it, its rows, its zones |
//! | `fields` | the fields that expressions read |
//! | `rows` | sets of rows |
//! | `predicate` | predicates as filters over zone maps |
//! | `zones` | the rows that zone maps leave |
//! | `scan` | the batches of a file: filter columns first, the others for what is left |
//! | `metrics` | what a scan did |
//! | `sink` | writing |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod fields;
mod files;
mod format;
mod metrics;
mod opener;
mod options;
mod predicate;
mod rows;
mod scan;
mod sink;
mod source;
mod statistics;
mod zones;

use std::sync::Arc;

use datafusion::datasource::provider::DefaultTableFactory;
use datafusion::error::Result;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionContext;

pub use format::{LanceFormat, LanceFormatFactory};
pub use source::LanceSource;

/// Makes Lance files known to a session: `CREATE EXTERNAL TABLE … STORED AS LANCE`, `COPY … TO
/// 'x.lance'`, and `FROM 'x.lance'` where the session knows tables by their paths.
pub fn register(ctx: &SessionContext) -> Result<()> {
    register_in(&mut ctx.state_ref().write())
}

/// [`register`] for a state.
pub fn register_in(state: &mut SessionState) -> Result<()> {
    state.register_file_format(Arc::new(LanceFormatFactory::default()), true)?;
    state.table_factories_mut().insert("LANCE".into(), Arc::new(DefaultTableFactory::new()));
    Ok(())
}

/// [`register`] for a state that is being built.
pub fn register_with(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.file_formats().get_or_insert_default().push(Arc::new(LanceFormatFactory::default()));
    builder.with_table_factory("LANCE".into(), Arc::new(DefaultTableFactory::new()))
}

/// An error of Lance files as one of DataFusion.
fn external(error: lancet_object_store::Error) -> datafusion::error::DataFusionError {
    match error {
        lancet_object_store::Error::Store(error) => error.into(),
        error => datafusion::error::DataFusionError::External(Box::new(error)),
    }
}
