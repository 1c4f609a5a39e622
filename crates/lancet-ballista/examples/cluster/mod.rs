//! A scheduler and executors in this process, which talk over the loopback interface.

use ballista::prelude::SessionContextExt;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_executor::new_standalone_executor_from_state;
use ballista_scheduler::standalone::new_standalone_scheduler_from_state;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::{SessionConfig, SessionContext};

/// Tasks that an executor runs at a time.
const TASKS: usize = 2;

/// Starts a cluster and returns a session whose queries run on it.
pub async fn start(executors: usize) -> Result<SessionContext> {
    let mut config = SessionConfig::new().with_target_partitions(executors * TASKS);
    // However small a file is, it is shared out.
    config.options_mut().optimizer.repartition_file_min_size = 0;
    let state = lancet_ballista::session_state(config);
    let scheduler = new_standalone_scheduler_from_state(&state).await.map_err(external)?;
    let url = format!("http://localhost:{}", scheduler.port());
    for _ in 0..executors {
        let client = SchedulerGrpcClient::connect(url.clone()).await.map_err(external)?;
        new_standalone_executor_from_state(client, TASKS, &state).await.map_err(external)?;
    }
    SessionContext::remote_with_state(&url, state).await
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
