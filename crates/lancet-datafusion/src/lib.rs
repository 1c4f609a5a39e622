//! Lance columnar files and Lance tables in DataFusion.
//!
//! [`register`] makes a session know them: by path, as external tables, and as what `COPY` and `INSERT`
//! write.
//!
//! # Use
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
//! Folders of files with partition columns work as they do with Parquet:
//!
//! ```text
//! CREATE EXTERNAL TABLE t STORED AS LANCE PARTITIONED BY (year) LOCATION 'data/'
//! COPY (SELECT * FROM t ORDER BY id) TO 'sorted.lance' OPTIONS ('format.profile' 'small')
//! ```
//!
//! A folder with versions (`_versions/`) is a Lance table. It is read as one, without its deleted rows and with all columns
//! that it has now; its files are never read one by one. The latest version is read, or one that is named:
//!
//! ```text
//! SELECT * FROM 'cities.lance'
//! SELECT * FROM 'cities.lance@3'                  version 3
//! SELECT * FROM 'cities.lance@released'           a tag, or a branch
//! SELECT * FROM 'cities.lance@test:3'             version 3 of a branch
//! CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION 'cities.lance/' OPTIONS ('table.version' '3')
//! ```
//!
//! An external table for which no version is named reads the latest one, anew for each query, and so does a view over the path of
//! a table. All of a query is of one version, whatever is written meanwhile. In Rust, [`LanceTable`] is the table provider.
//!
//! # What a query reads
//!
//! - Only the columns and nested fields that it names.
//! - Of those, only the rows that zone maps leave for its filters, also for filters that a join or a limit
//!   learns on the way.
//! - Filter columns first, the others for the rows that are left.
//! - The number of rows stands at the end of a file, and in the manifest of a table: `count(*)` reads no data.
//! - Of a table, deletion files of the fragments whose rows are read, once.
//!
//! `EXPLAIN ANALYZE` tells the bytes, the requests, and the rows that were left out.
//!
//! A query reads the versions of files that were there when it was planned. If one is replaced meanwhile, the query ends
//! with an error; run it again. DataFusion keeps listings of folders for as long as the session lives, unless
//! `list_files_cache_ttl` of its runtime says otherwise: a file that is replaced in such a folder is an error in each
//! query after that.
//!
//! # What a query writes
//!
//! The files of a `COPY` or `INSERT` appear when the query has ended well and all of them are written. If it fails or is
//! given up, none does, and what was there stays.
//!
//! Lance tables are changed by statements, each of which makes one version or nothing:
//!
//! ```text
//! INSERT INTO 'cities.lance' SELECT * FROM 'more.parquet'       rows are added; INSERT OVERWRITE replaces all of them
//! UPDATE 'cities.lance' SET population = population + 1 WHERE name = 'Bern'
//! DELETE FROM 'cities.lance' WHERE country IN (SELECT code FROM 'gone.csv')
//! MERGE INTO 'cities.lance' t USING 'census.csv' s ON t.name = s.name
//!     WHEN MATCHED THEN UPDATE SET population = s.population
//!     WHEN NOT MATCHED THEN INSERT (name, population) VALUES (s.name, s.population)
//! COPY (SELECT …) TO 'new.lance' OPTIONS (table true)           a new table; one that is there gets a new version
//! ```
//!
//! `INSERT` goes by the position of columns, unless it names them: `INSERT INTO 'cities.lance' (name, population) SELECT …`.
//! Rows for which a condition is null stay. The newest version is changed, of the table or of a branch; of a table that was
//! opened at a version or a tag nothing can be. Where another writer was faster, the change goes on top of its own,
//! or fails with the version that is in the way. Rows are written as they come: memory is needed for batches, and for the
//! addresses of rows that are deleted or updated.
//!
//! # Options
//!
//! | option of `COPY` and `STORED AS LANCE` | value |
//! |---|---|
//! | `format.version` | 2.0, 2.1 or 2.2 |
//! | `format.profile` | fast, balanced or small |
//! | `format.page_bytes` | bytes of values after which a page is cut |
//! | `format.table` | true: `COPY` makes a table, not a file |
//! | `format.<option>::<column>` | an option of one column, as in the field metadata `lance-encoding:<option>` |
//!
//! | option of `STORED AS LANCE`, for tables | value |
//! |---|---|
//! | `table.version` | the number of a version, of the branch if one is named |
//! | `table.tag`, `table.branch` | the name of a tag or of a branch |
//! | `table.row_ids`, `table.row_addresses` | true: there is a column `_rowid`, `_rowaddr` |
//! | `table.row_versions` | true: there are columns `_row_created_at_version`, `_row_last_updated_at_version` |
//! | `table.base` | a folder outside of the table that it may read, as shallow clones do |
//!
//! In Rust, [`LanceFormatFactory::new`] and [`LanceFormat::with_read_options`] take [`lancet::ReadOptions`],
//! with the limits for files you do not trust, and [`LanceFormat::with_write_options`] takes
//! [`lancet::WriteOptions`].
//!
//! # Versions
//!
//! DataFusion 55, Arrow 59, Rust 1.94 and later. The crate `lancet-ballista` does the same on several machines.
//!
//! # Inside
//!
//! | module | what |
//! |---|---|
//! | `format` | schema and statistics of files, and the plans that read and write them |
//! | `statistics` | what is known of columns without reading them |
//! | `bounds` | bounds of columns that a cast keeps inside |
//! | `options` | the options of `STORED AS LANCE` and `COPY` |
//! | `files` | open files, shared by all who read them |
//! | `source` | what a scan was asked for: columns, filters |
//! | `opener` | one file or fragment of a scan: expressions fitted to it, its rows, its zones |
//! | `readable` | what a scan reads: a file, or a fragment of a table |
//! | `table` | Lance tables: names, versions, fragments as the files of a scan, statistics |
//! | `table::change` | statements that change them |
//! | `fields` | the fields that expressions read |
//! | `rows` | sets of rows |
//! | `predicate` | predicates as filters over zone maps |
//! | `zones` | the rows that zone maps leave |
//! | `scan` | the batches of a file or fragment: filter columns first, the others for what is left |
//! | `metrics` | what a scan did |
//! | `sink` | writing |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bounds;
mod fields;
mod files;
mod format;
mod metrics;
mod opener;
mod options;
mod predicate;
mod readable;
mod rows;
mod scan;
mod sink;
mod source;
mod statistics;
mod table;
mod zones;

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionContext;

pub use format::{LanceFormat, LanceFormatFactory};
pub use lancet_table::At;
pub use source::LanceSource;
pub use table::{LanceTable, LanceTableFactory, LanceTableOptions, OpenTable};

/// Makes Lance files and tables known to a session: `CREATE EXTERNAL TABLE … STORED AS LANCE`, `COPY … TO 'x.lance'`,
/// `UPDATE` and `DELETE` of tables, and `FROM 'x.lance'` where the session knows tables by their paths. Call
/// [`enable_url_table`](SessionContext::enable_url_table) before.
pub fn register(ctx: &SessionContext) -> Result<()> {
    register_in(&mut ctx.state_ref().write())?;
    if let Some(catalogs) = table::with_tables(ctx) {
        ctx.register_catalog_list(catalogs);
    }
    Ok(())
}

/// [`register`] for a state. Tables are known as external ones, not by their paths.
pub fn register_in(state: &mut SessionState) -> Result<()> {
    state.register_file_format(Arc::new(LanceFormatFactory::default()), true)?;
    state.table_factories_mut().insert("LANCE".into(), Arc::new(LanceTableFactory));
    state.add_analyzer_rule(Arc::new(table::TableChanges));
    Ok(())
}

/// [`register`] for a state that is being built. Tables are known as external ones, not by their paths.
pub fn register_with(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.file_formats().get_or_insert_default().push(Arc::new(LanceFormatFactory::default()));
    builder
        .with_table_factory("LANCE".into(), Arc::new(LanceTableFactory))
        .with_analyzer_rule(Arc::new(table::TableChanges))
}

/// An error of Lance files as one of DataFusion.
fn external(error: lancet_object_store::Error) -> datafusion::error::DataFusionError {
    match error {
        lancet_object_store::Error::Store(error) => error.into(),
        error => datafusion::error::DataFusionError::External(Box::new(error)),
    }
}
