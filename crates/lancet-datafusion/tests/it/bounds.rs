//! Filters that bounds and names once got wrong.

use crate::{folder, run, session, text};

/// What a filter leaves of a column is guessed through casts, which may take bounds outwards.
#[tokio::test]
async fn casts_that_take_bounds_outwards() {
    let folder = folder();
    let file = folder.path().join("t.lance").display().to_string();
    let ctx = session(2);
    run(
        &ctx,
        &format!(
            "COPY (SELECT column1 AS t, column1::TIMESTAMP(0) AS s, column1 AT TIME ZONE 'Asia/Tokyo' AS z, \
             column2 AS f, column2::REAL AS r, column3 AS d FROM (VALUES \
             (TIMESTAMP '2024-01-01T15:30:00.7', 3.7::DOUBLE, 1.27::DECIMAL(10, 2)), \
             (TIMESTAMP '2024-01-02T00:00:00', 4.0::DOUBLE, 2.00::DECIMAL(10, 2)), \
             (TIMESTAMP '2024-01-03T10:00:00.2', 4.2::DOUBLE, 2.17::DECIMAL(10, 2))) \
             CROSS JOIN generate_series(1, 40000)) TO '{file}' STORED AS LANCE"
        ),
    )
    .await;
    run(&ctx, &format!("CREATE EXTERNAL TABLE lance STORED AS LANCE LOCATION '{file}'")).await;
    run(&ctx, "CREATE TABLE memory AS SELECT * FROM lance").await;
    for filter in [
        "CAST(t AS DATE) <= DATE '2024-01-03'",
        "CAST(t AS DATE) < DATE '2024-01-03'",
        "CAST(t AS DATE) < DATE '2024-01-04'",
        "CAST(s AS DATE) <= DATE '2024-01-03'",
        "CAST(z AS DATE) <= DATE '2024-01-03'",
        "CAST(t AS TIMESTAMP(0)) <= TIMESTAMP '2024-01-03T10:00:00'",
        "CAST(f AS INT) <= 4",
        "CAST(f AS INT) < 4",
        "CAST(r AS INT) > 3",
        "CAST(d AS DECIMAL(10, 1)) < 2.2",
        "CAST(f AS REAL) <= 4.5",
        "CAST(r AS BIGINT) <= 4",
        "CAST(d AS BIGINT) <= 2",
        "CAST(d AS DECIMAL(10, 1)) <= 2.2",
    ] {
        let counted =
            |table| format!("SELECT min(t) AS t, count(*) AS n FROM {table} WHERE {filter}");
        let found = text(&ctx, &counted("lance")).await;
        let wanted = text(&ctx, &counted("memory")).await;
        assert_eq!(found, wanted, "{filter}");
    }
}

/// `x.y` is a field of its own, and not the `y` of its neighbour `x`.
#[tokio::test]
async fn fields_with_dots_beside_others() {
    let folder = folder();
    let file = folder.path().join("t.lance").display().to_string();
    let ctx = session(1);
    run(
        &ctx,
        &format!(
            "COPY (SELECT named_struct('x', named_struct('y', column1), 'x.y', column1 + 10) AS st \
             FROM (VALUES (1), (2), (3))) TO '{file}' STORED AS LANCE"
        ),
    )
    .await;
    let sql = format!("SELECT st['x']['y'] AS a, st['x.y'] AS b FROM '{file}'");
    let all = text(&ctx, &sql).await;
    assert!(all.contains("| 1 | 11 |") && all.contains("| 3 | 13 |"), "{all}");
    let inner = text(&ctx, &format!("SELECT st['x']['y'] AS a FROM '{file}'")).await;
    assert!(inner.contains("| 1 |") && inner.contains("| 3 |"), "{inner}");
    let some = text(&ctx, &format!("{sql} WHERE st['x']['y'] = 2")).await;
    assert!(some.contains("| 2 | 12 |") && !some.contains("11"), "{some}");
    let other = text(&ctx, &format!("{sql} WHERE st['x.y'] = 12")).await;
    assert_eq!(other, some);
}
