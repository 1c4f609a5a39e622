//! Tables by their names, with versions: `x.lance`, `x.lance@3`, `x.lance@released`, `x.lance@experiment:3`.

use std::sync::Arc;

use datafusion::common::plan_err;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::runtime_env::RuntimeEnv;
use lancet_table::At;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

use super::{LanceTable, LanceTableOptions};

/// The folder of the versions of a table.
const VERSIONS: &str = "_versions";
/// The folder of its data files.
const DATA: &str = "data";

impl LanceTable {
    /// The table with this name, if there is one. A name is a path or a URL, with a version behind an `@`: a number, the
    /// name of a tag or a branch, or the name of a branch, a colon and a number.
    pub async fn find(
        runtime: &RuntimeEnv,
        name: &str,
        options: LanceTableOptions,
    ) -> Result<Option<Self>> {
        if let Some(url) = table_url(runtime, name).await? {
            return Self::open(runtime, &url, options).await.map(Some);
        }
        let Some((folder, version)) = name.rsplit_once('@').filter(|(_, v)| !v.is_empty()) else {
            return Ok(None);
        };
        let Some(url) = table_url(runtime, folder).await? else { return Ok(None) };
        if let Ok(number) = version.parse() {
            let options = options.with_version(At::Version(number));
            return Self::open(runtime, &url, options).await.map(Some);
        }
        let of_branch = version.rsplit_once(':');
        if let Some((branch, Ok(number))) = of_branch.map(|(b, number)| (b, number.parse())) {
            let options = options.with_version(At::BranchVersion(branch.into(), number));
            return Self::open(runtime, &url, options).await.map(Some);
        }
        let tagged = options.clone().with_version(At::Tag(version.into()));
        match Self::open(runtime, &url, tagged).await {
            Err(error) if is_unknown(&error) => {}
            opened => return opened.map(Some),
        }
        let branched = options.with_version(At::Branch(version.into()));
        match Self::open(runtime, &url, branched).await {
            Err(error) if is_unknown(&error) => plan_err!(
                "{folder}: there is no tag and no branch `{version}`; a version is named by its \
                 number, as in '{folder}@3'"
            ),
            opened => opened.map(Some),
        }
    }
}

/// Whether a name is that of nothing, and no table is broken.
fn is_unknown(error: &DataFusionError) -> bool {
    let DataFusionError::External(error) = error else { return false };
    matches!(error.downcast_ref(), Some(lancet_table::Error::Invalid(_)))
}

/// The URL of a table, if it is one.
async fn table_url(runtime: &RuntimeEnv, name: &str) -> Result<Option<ListingTableUrl>> {
    let Ok(url) = ListingTableUrl::parse(name) else { return Ok(None) };
    let Ok(store) = runtime.object_store(&url) else { return Ok(None) };
    Ok(is_table(&store, &url).await?.then_some(url))
}

/// Whether a table lies at a URL: there are versions.
pub(crate) async fn is_table(store: &Arc<dyn ObjectStore>, url: &ListingTableUrl) -> Result<bool> {
    if url.get_glob().is_some() {
        return Ok(false);
    }
    if url.scheme() == "file"
        && let Ok(path) = url.get_url().to_file_path()
    {
        // A table that has lost its versions is one all the same, which says so.
        return Ok(path.join(VERSIONS).is_dir());
    }
    has_versions(store, url.prefix()).await
}

async fn has_versions(store: &Arc<dyn ObjectStore>, folder: &Path) -> Result<bool> {
    let versions = folder.clone().join(VERSIONS);
    let listed = store.list_with_delimiter(Some(&versions)).await?;
    Ok(!listed.objects.is_empty())
}

/// Fails if a file is one of a table's: alone it would show rows that are deleted, and hide columns that were added.
pub(crate) async fn check_is_file(
    store: &Arc<dyn ObjectStore>,
    objects: &[ObjectMeta],
) -> Result<()> {
    let mut seen: Option<Path> = None;
    for object in objects {
        let parts: Vec<_> = object.location.parts().collect();
        let [table @ .., data, _] = parts.as_slice() else { continue };
        let table = Path::from_iter(table.iter().cloned());
        if data.as_ref() != DATA || seen.as_ref() == Some(&table) {
            continue;
        }
        if has_versions(store, &table).await? {
            return plan_err!(
                "{}: is a data file of a Lance table; files alone show rows that are deleted and lack \
                 columns that were added, so name the table, {table}",
                object.location
            );
        }
        seen = Some(table);
    }
    Ok(())
}
