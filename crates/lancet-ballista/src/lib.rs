//! Lance columnar files and tables in the distributed queries of Ballista.
//!
//! A client sends the scheduler its logical plan, and the scheduler sends executors parts of the
//! physical one. Both have to know Lance files: all three take their session from
//! [`session_state`], or their codecs from [`LogicalCodec`] and [`PhysicalCodec`].
//!
//! # Use
//!
//! ```text
//! // The client. Scheduler and executors are started with the same function.
//! let state = lancet_ballista::session_state(SessionConfig::new());
//! let ctx = SessionContext::remote_with_state("df://localhost:50050", state).await?;
//! ctx.sql("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '/data/orders.lance'").await?;
//! ctx.sql("SELECT count(*) FROM t").await?.show().await?;
//! ```
//!
//! A folder with versions is a Lance table: the scheduler decides which version a query reads, and all executors read that.
//!
//! `examples/ballista.rs` runs a scheduler, two executors and a query in one process. Executors read the files
//! themselves, so all machines have to see them under the same address.
//!
//! # Versions
//!
//! Ballista 55, DataFusion 55, Rust 1.94 and later. What goes over the wire is not stable between versions
//! of this crate: run the same one everywhere.
//!
//! # Inside
//!
//! | module | what |
//! |---|---|
//! | `table` | tables of Lance files that a client can send |
//! | `logical` | them as bytes |
//! | `physical` | scans of them as bytes |
//! | `versioned` | which version of a Lance table is read, as bytes |
//! | `reading` | how they are read, as bytes |

mod logical;
mod physical;
mod reading;
mod table;
mod versioned;

use std::sync::Arc;

use ballista_core::extension::SessionConfigExt;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;

pub use logical::LogicalCodec;
pub use physical::PhysicalCodec;
pub use table::{LanceTable, LanceTableFactory};

/// A state that knows Lance files, for clients, schedulers and executors alike.
pub fn session_state(config: SessionConfig) -> SessionState {
    let builder =
        SessionStateBuilder::new().with_config(session_config(config)).with_default_features();
    lancet_datafusion::register_with(builder)
        .with_table_factory("LANCE".into(), Arc::new(LanceTableFactory))
        .build()
}

/// The configuration of Ballista with codecs that know Lance files.
pub fn session_config(config: SessionConfig) -> SessionConfig {
    config
        .upgrade_for_ballista()
        .with_ballista_logical_extension_codec(Arc::new(LogicalCodec::default()))
        .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::default()))
}

/// An error of bytes that are not what they should be.
fn decoding(error: prost::DecodeError) -> datafusion::error::DataFusionError {
    datafusion::error::DataFusionError::External(Box::new(error))
}
