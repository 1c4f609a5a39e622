//! Files that queries write.

use super::*;

#[tokio::test]
async fn copy_writes_one_file() {
    let folder = folder();
    let path = folder.path().join("out.lance");
    let ctx = session(2);
    let copy = format!(
        "COPY (SELECT column1 AS id, column2 AS name, [column1, 7] AS list, \
         named_struct('a', column1, 'b', column2) AS pair \
         FROM (VALUES (1, 'a'), (2, NULL), (3, 'c'))) TO '{}'",
        path.display()
    );
    assert!(text(&ctx, &copy).await.contains("| 3     |"));
    let reader = lancet::FileReader::open(&path).unwrap();
    assert_eq!(reader.num_rows(), 3);
    assert!(reader.verify().unwrap().problems.is_empty());
    let back = text(&ctx, &format!("SELECT * FROM '{}' WHERE id <> 2", path.display())).await;
    assert!(back.contains("| 3  | c    | [3, 7] | {a: 3, b: c} |"), "{back}");
}

#[tokio::test]
async fn copy_takes_options() {
    let folder = folder();
    let path = folder.path().join("out.lance");
    let ctx = session(2);
    let values = "COPY (VALUES (1, 'a'), (2, 'b')) TO";
    let copy = format!(
        "{values} '{}' OPTIONS ('format.version' '2.0', 'format.profile' 'small')",
        path.display()
    );
    run(&ctx, &copy).await;
    assert_eq!(lancet::FileReader::open(&path).unwrap().version().to_string(), "2.0");
    let wrong = format!("{values} '{}' OPTIONS ('format.speed' '2.0')", path.display());
    let error = ctx.sql(&wrong).await.unwrap().collect().await.unwrap_err().to_string();
    assert!(error.contains("format.profile"), "{error}");
}

#[tokio::test]
async fn copy_into_partitions_and_insert() {
    let folder = folder();
    let ctx = session(2);
    let copy = format!(
        "COPY (VALUES (1, 'x'), (2, 'y'), (3, 'x')) TO '{}/' STORED AS LANCE PARTITIONED BY (column2)",
        folder.path().display()
    );
    run(&ctx, &copy).await;
    assert!(folder.path().join("column2=x").is_dir());
    run(
        &ctx,
        &format!(
            "CREATE EXTERNAL TABLE t STORED AS LANCE PARTITIONED BY (column2) LOCATION '{}/'",
            folder.path().display()
        ),
    )
    .await;
    run(&ctx, "INSERT INTO t VALUES (4, 'z'), (5, 'x')").await;
    let counts =
        text(&ctx, "SELECT column2, count(*) FROM t GROUP BY column2 ORDER BY column2").await;
    for line in ["| x       | 3        |", "| y       | 1        |", "| z       | 1        |"] {
        assert!(counts.contains(line), "{counts}");
    }
}

#[tokio::test]
async fn what_cannot_be_written_leaves_no_file() {
    let folder = folder();
    let path = folder.path().join("out.lance");
    let ctx = session(1);
    let copy = format!("COPY (SELECT INTERVAL '1 month' AS a) TO '{}'", path.display());
    let done = ctx.sql(&copy).await.unwrap().collect().await;
    assert!(done.is_err());
    assert!(!path.exists());
}

/// Names of the files in a folder and below it.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path.file_name().unwrap().to_string_lossy().into_owned()],
        })
        .collect();
    names.sort();
    names
}

/// A query that fails after it has given rows.
const FAILS: &str = "SELECT value AS a, value % 2 AS part, \
    1 / (CASE WHEN value = 190000 THEN 0 ELSE 1 END) AS q FROM generate_series(1, 200000)";

#[tokio::test]
async fn a_query_that_fails_leaves_what_was_there() {
    let folder = folder();
    let path = folder.path().join("out.lance");
    for partitions in [1, 2, 4] {
        std::fs::write(&path, "old").unwrap();
        let ctx = session(partitions);
        let copy = format!("COPY ({FAILS}) TO '{}'", path.display());
        let error = ctx.sql(&copy).await.unwrap().collect().await.unwrap_err();
        assert!(error.to_string().contains("Divide by zero"), "{error}");
        assert!(std::fs::read(&path).unwrap() == b"old", "{partitions} partitions");
        assert_eq!(files(folder.path()), ["out.lance"]);
    }
}

#[tokio::test]
async fn a_query_that_fails_adds_no_file_to_a_table() {
    let folder = folder();
    let ctx = session(2);
    let place = folder.path().display();
    let copy = format!("COPY ({FAILS}) TO '{place}/' STORED AS LANCE PARTITIONED BY (part)");
    let error = ctx.sql(&copy).await.unwrap().collect().await.unwrap_err();
    assert!(error.to_string().contains("Divide by zero"), "{error}");
    assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
    run(&ctx, &format!("COPY (SELECT 1 AS a, 2 AS part, 3 AS q) TO '{place}/t.lance'")).await;
    let create = format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{place}/'");
    run(&ctx, &create).await;
    let insert = format!("INSERT INTO t {FAILS}");
    assert!(ctx.sql(&insert).await.unwrap().collect().await.is_err());
    assert_eq!(files(folder.path()), ["t.lance"]);
}

#[tokio::test]
async fn a_query_that_is_given_up_leaves_what_was_there() {
    let folder = folder();
    let path = folder.path().join("out.lance");
    let ctx = session(2);
    let rows = "SELECT value AS a FROM generate_series(1, 300000)";
    let copy = format!("COPY ({rows}) TO '{}'", path.display());
    let mut polls = 0;
    loop {
        std::fs::write(&path, "old").unwrap();
        let frame = ctx.sql(&copy).await.unwrap();
        let done = {
            let mut copied = std::pin::pin!(frame.collect());
            let mut left = polls;
            std::future::poll_fn(|context| match copied.as_mut().poll(context) {
                std::task::Poll::Pending if left == 0 => std::task::Poll::Ready(false),
                std::task::Poll::Pending => {
                    // The tasks of the query go on for a while, and then this is asked again.
                    left -= 1;
                    context.waker().wake_by_ref();
                    std::task::Poll::Pending
                }
                std::task::Poll::Ready(done) => std::task::Poll::Ready(done.is_ok()),
            })
            .await
        };
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
        }
        if done {
            break;
        }
        if std::fs::read(&path).unwrap() != b"old" {
            // Given up while it was published.
            assert_eq!(lancet::FileReader::open(&path).unwrap().num_rows(), 300_000);
        }
        polls += 1 + polls / 4;
    }
    // On a busy machine each poll finds more that is done.
    assert!(polls > 1, "it ended after {polls} polls");
}
