//! Lance tables on a scheduler and two executors: the same version everywhere, without its deleted rows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../examples/cluster/mod.rs"]
mod cluster;
#[path = "../../lancet-table/tests/support/mod.rs"]
mod golden;

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
use lancet::ReadOptions;
use lancet_ballista::{LogicalCodec, PhysicalCodec};
use lancet_datafusion::{At, LanceFormatFactory, LanceSource, LanceTable, LanceTableOptions};

fn unpacked(name: &str) -> tempfile::TempDir {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet-table/tests/tables");
    let place = tempfile::tempdir().unwrap();
    golden::archive::write_into(&golden::archive::unpack(&tables.join(name)), place.path());
    place
}

async fn text(ctx: &SessionContext, sql: &str) -> String {
    let frame = ctx.sql(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let batches = frame.collect().await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    pretty_format_batches(&batches).unwrap().to_string()
}

fn create(name: &str, folder: &Path, options: &str) -> String {
    let folder = folder.join("table");
    format!(
        "CREATE EXTERNAL TABLE {name} STORED AS LANCE LOCATION '{}/' {options}",
        folder.display()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_those_of_one_process() {
    let place = unpacked("rebased_v20.tar");
    let cluster = cluster::start(2).await.unwrap();
    let alone = SessionContext::new();
    lancet_datafusion::register(&alone).unwrap();
    let rows = "'table.row_ids' 'true', 'table.row_addresses' 'true', 'table.row_versions' 'true'";
    for ctx in [&cluster, &alone] {
        for (name, options) in [
            ("latest", format!("OPTIONS ({rows})")),
            ("first", format!("OPTIONS ('table.version' '1', {rows})")),
        ] {
            let sql = create(name, place.path(), &options);
            ctx.sql(&sql).await.unwrap().collect().await.unwrap();
        }
    }
    for sql in [
        "SELECT * FROM latest ORDER BY _rowaddr",
        "SELECT * FROM first ORDER BY _rowaddr",
        "SELECT k % 7 AS g, count(*), sum(k), max(_rowid) FROM latest WHERE k > 3 GROUP BY g ORDER BY g",
        "SELECT a.k, b._row_last_updated_at_version FROM latest a JOIN first b USING (k) ORDER BY a.k",
    ] {
        let expected = text(&alone, sql).await;
        assert!(expected.lines().count() > 6, "{expected}");
        assert_eq!(text(&cluster, sql).await, expected, "{sql}");
    }
}

fn session() -> SessionContext {
    SessionContext::new_with_state(lancet_ballista::session_state(SessionConfig::new()))
}

fn source(plan: &Arc<dyn ExecutionPlan>) -> (Arc<dyn ExecutionPlan>, LanceSource) {
    let Some(scan) = plan.downcast_ref::<DataSourceExec>() else {
        return source(plan.children()[0]);
    };
    let config = scan.data_source().downcast_ref::<FileScanConfig>().unwrap();
    (plan.clone(), config.file_source().downcast_ref::<LanceSource>().unwrap().clone())
}

#[tokio::test]
async fn the_version_and_the_options_go_with_the_plan() {
    let place = unpacked("branches_v22.tar");
    let here = lancet_table::Table::open(place.path().join("table")).unwrap();
    let branch = here.branches().unwrap().swap_remove(0).name;
    let latest = here.checkout(lancet_table::At::Branch(branch.clone())).unwrap().version();
    let client = session();
    let read = ReadOptions::default().with_zone_maps(false).with_memory_limit(12_345_678);
    let format = Arc::new(LanceFormatFactory::new(read));
    client.state_ref().write().register_file_format(format, true).unwrap();
    let options = format!(
        "OPTIONS ('table.branch' '{branch}', 'table.row_ids' 'true', 'table.base' '/elsewhere')"
    );
    client.sql(&create("t", place.path(), &options)).await.unwrap();
    let table = client.table_provider("t").await.unwrap();

    // A version that is open goes by its number.
    let url = ListingTableUrl::parse(place.path().join("table").to_str().unwrap()).unwrap();
    let open = LanceTable::open(&client.runtime_env(), &url, LanceTableOptions::default()).await;
    assert_eq!(*open.unwrap().options().at(), At::Version(here.version()));

    // From the client to the scheduler: the branch.
    let (codec, scheduler) = (LogicalCodec::default(), session());
    let mut bytes = Vec::new();
    let (name, schema) = ("t".into(), table.schema());
    codec.try_encode_table_provider(&name, table, &mut bytes).unwrap();
    let context = scheduler.task_ctx();
    let table = codec.try_decode_table_provider(&bytes, &name, schema, &context).unwrap();
    let sent = table.downcast_ref::<LanceTable>().unwrap();
    assert_eq!(*sent.options().at(), At::Branch(branch.clone()));
    let plan = scheduler.read_table(table).unwrap().create_physical_plan().await.unwrap();

    // From the scheduler to an executor: the version of it.
    let (codec, converter) = (PhysicalCodec::default(), DefaultPhysicalProtoConverter {});
    let mut bytes = Vec::new();
    codec.try_encode(source(&plan).0, &mut bytes, &converter).unwrap();
    let plan = codec.try_decode(&bytes, &[], &session().task_ctx(), &converter).unwrap();
    let found = source(&plan).1;
    let options = found.table().unwrap().options();
    assert_eq!(*options.at(), At::BranchVersion(branch, latest));
    assert!(options.row_ids() && !options.row_addresses() && !options.row_versions());
    assert_eq!(options.bases().len(), 1);
    assert_eq!(options.read_options().memory_limit(), 12_345_678);
    assert!(!options.read_options().zone_maps());
}
