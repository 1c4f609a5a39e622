//! Files, folders, patterns and Lance tables as tables.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{TableProvider, UrlTableFactory};
use datafusion::common::plan_err;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::session_state::SessionState;
use lancet_datafusion::{LanceFormat, LanceTable, LanceTableOptions};

use super::errors::refused;
use crate::error::Error;
use crate::format::{Compression, Format};
use crate::places::Place;

/// Makes tables of names that look like files.
pub(super) struct Files {
    state: SessionState,
    tables: LanceTableOptions,
}

impl Files {
    /// Lance files and tables are read in this way.
    pub(super) fn new(state: SessionState, tables: LanceTableOptions) -> Self {
        Self { state, tables }
    }
}

#[async_trait]
impl UrlTableFactory for Files {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if !name.contains(['.', '/', '\\']) {
            return Ok(None);
        }
        let runtime = self.state.runtime_env();
        if let Some(table) = LanceTable::find(runtime, name, self.tables.clone()).await? {
            return Ok(Some(Arc::new(table.following())));
        }
        let path = match Place::of(Path::new(name)).map_err(plan)? {
            Place::Disk(path) => path,
            _ => {
                return plan_err!(
                    "{name}: queries read files on disk; fetch it first: lancet convert {name} FILE"
                );
            }
        };
        let (format, ending) = self.format_of(&path)?;
        let options = ListingOptions::new(format).with_file_extension(ending);
        let config = ListingTableConfig::new(ListingTableUrl::parse(name)?)
            .with_listing_options(options)
            .infer_partitions_from_path(&self.state)
            .await?
            .infer_schema(&self.state)
            .await
            .map_err(|error| about(name, error))?;
        if config.file_schema.as_ref().is_none_or(|schema| schema.fields().is_empty()) {
            return plan_err!("{name}: there are no columns");
        }
        Ok(Some(Arc::new(ListingTable::try_new(config)?)))
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Files")
    }
}

impl Files {
    /// The format of a file, of a pattern, or of the files in a folder, and their ending.
    fn format_of(&self, path: &Path) -> Result<(Arc<dyn FileFormat>, String)> {
        let name = path.display();
        let pattern = path.to_string_lossy().contains(['*', '?', '[']);
        let mut example = path.to_path_buf();
        if path.is_dir() {
            match first_file(path) {
                Some(file) => example = file,
                None => return plan_err!("{name}: has no files of a format that lancet knows"),
            }
        } else if !pattern && !path.exists() {
            return plan_err!("{name}: no such file");
        }
        if Compression::from_path(&example) != Compression::None {
            return plan_err!(
                "{name}: is compressed; convert it first: lancet convert {name} FILE"
            );
        }
        let format: Arc<dyn FileFormat> = match Format::from_path(&example).map_err(plan)? {
            Format::Lance => Arc::new(
                LanceFormat::default().with_read_options(self.tables.read_options().clone()),
            ),
            Format::ArrowFile | Format::ArrowStream => Arc::new(ArrowFormat),
            Format::Parquet => Arc::new(ParquetFormat::default()),
            Format::Csv => Arc::new(CsvFormat::default().with_has_header(true)),
            Format::Tsv => {
                Arc::new(CsvFormat::default().with_has_header(true).with_delimiter(b'\t'))
            }
            Format::Json | Format::JsonLines => Arc::new(JsonFormat::default()),
        };
        let ending = example.extension().map(|e| format!(".{}", e.to_string_lossy()));
        Ok((format, ending.unwrap_or_default()))
    }
}

/// A file of a known format in a folder, or in folders below it.
fn first_file(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    entries.iter().find_map(|entry| match entry.is_dir() {
        true => first_file(entry),
        false => Format::from_path(entry).is_ok().then(|| entry.clone()),
    })
}

/// What went wrong with the files of a name.
fn about(name: &str, error: DataFusionError) -> DataFusionError {
    if refused(&error).is_some() {
        return error; // which names the file
    }
    let message = match error.find_root() {
        DataFusionError::Plan(message) if message.starts_with("No files found") => {
            "no file is called so".into()
        }
        DataFusionError::Plan(message) => message.clone(),
        DataFusionError::External(cause) => cause.to_string(),
        other => other.strip_backtrace(),
    };
    DataFusionError::Plan(format!("{name}: {message}"))
}

fn plan(error: Error) -> DataFusionError {
    match error {
        Error::Message(message) | Error::Usage(message) => DataFusionError::Plan(message),
        Error::ClosedPipe => DataFusionError::Plan("the output is closed".into()),
    }
}
