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
