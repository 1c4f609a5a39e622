//! Random statements one after the other do to a table what they mean: each is also answered by a query over a table in
//! memory.

use super::*;
use filters::{Random, filter, table};
use table_changes::{count, made};

/// Columns and what they may become.
const VALUES: [(&str, &str, &[&str]); 6] = [
    (
        "i",
        "int",
        &["i + 1", "NULL", "length(s)", "id % 50", "p['n'] * 2", "7.9", "(SELECT max(x) FROM o)"],
    ),
    ("f", "double", &["f * 2", "id / 3.0", "i", "m", "CASE WHEN b THEN f END"]),
    ("r", "double", &["f", "coalesce(r, 5)", "0"]),
    ("s", "varchar", &["upper(s)", "s || 'x'", "NULL", "i", "coalesce(s, 'none')", "p['s']"]),
    ("b", "boolean", &["NOT b", "i > 3", "b AND f < 0", "s LIKE 'a%'"]),
    ("m", "decimal(12, 2)", &["m * 2", "i", "m + 0.25", "NULL"]),
];

fn condition(random: &mut Random) -> String {
    match random.next(6) {
        0 => format!("id IN (SELECT x FROM o) AND {}", filter(random, 1)),
        1 => format!("id > (SELECT avg(id) FROM t) OR {}", filter(random, 1)),
        2 => format!("id % {} = {}", 2 + random.next(9), random.next(3)),
        _ => filter(random, 2),
    }
}

/// The rows for which a condition is not true.
fn others(condition: &str) -> String {
    format!("SELECT * FROM t WHERE id NOT IN (SELECT id FROM t WHERE {condition})")
}

#[tokio::test]
async fn random_statements_do_what_queries_say() {
    let start = table(800);
    let (_folder, path, ctx) = made(&start).await;
    let memory = SessionContext::new();
    memory.register_batch("t", start).unwrap();
    for ctx in [&ctx, &memory] {
        let x = datafusion::arrow::array::Int64Array::from_iter(
            (0..300).map(|n| (n % 7 > 0).then_some(n * 6)),
        );
        ctx.register_batch("o", RecordBatch::try_from_iter([("x", Arc::new(x) as _)]).unwrap())
            .unwrap();
    }
    let mut random = Random(99);
    let (mut next, mut changed) = (10_000, 0);
    for step in 0..80 {
        let num_rows = rows(&memory, "SELECT id FROM t").await.num_rows();
        let kind = if num_rows < 200 {
            0
        } else if num_rows > 1_500 {
            1
        } else {
            random.next(6)
        };
        let condition = condition(&mut random);
        let (statement, query) = match kind {
            0 => {
                let added = format!(
                    "SELECT CAST({next} + row_number() OVER (ORDER BY id) AS bigint) AS id, i, f, r, s, b, d, m, p FROM t WHERE id % 3 = 0 OR {condition}"
                );
                next += 10_000;
                let all = format!("SELECT * FROM t UNION ALL {added}");
                (format!("INSERT INTO t {added}"), all)
            }
            1 => {
                let condition = format!("id % 4 = 1 AND {condition}");
                let left = others(&condition);
                (format!("DELETE FROM t WHERE {condition}"), left)
            }
            _ => {
                let mut set: Vec<(&str, String)> = Vec::new();
                let mut columns = vec!["id".to_owned()];
                for (column, data_type, values) in VALUES {
                    if random.next(3) == 0 {
                        let value = values[random.next(values.len() as u64) as usize];
                        set.push((column, format!("{column} = {value}")));
                        columns.push(format!("CAST({value} AS {data_type}) AS {column}"));
                    } else {
                        columns.push(column.to_owned());
                    }
                }
                if set.is_empty() {
                    continue;
                }
                columns.insert(6, "d".into());
                columns.push("p".into());
                let set: Vec<String> = set.into_iter().map(|(_, set)| set).collect();
                (
                    format!("UPDATE t SET {} WHERE {condition}", set.join(", ")),
                    format!(
                        "SELECT {} FROM t WHERE {condition} UNION ALL {}",
                        columns.join(", "),
                        others(&condition)
                    ),
                )
            }
        };
        let met = format!(
            "SELECT id FROM t WHERE {}",
            match kind {
                0 => format!("id % 3 = 0 OR {condition}"),
                1 => format!("id % 4 = 1 AND {condition}"),
                _ => condition.clone(),
            }
        );
        let met = rows(&memory, &met).await.num_rows() as u64;
        let expected = rows(&memory, &query).await;
        assert_eq!(count(&ctx, &statement).await, met, "step {step}: {statement}");
        memory.deregister_table("t").unwrap();
        memory.register_batch("t", expected).unwrap();
        let all = "SELECT * FROM t ORDER BY id";
        let (found, want) = (text(&ctx, all).await, text(&memory, all).await);
        if found != want {
            let differ = found.lines().zip(want.lines()).find(|(found, want)| found != want);
            panic!("step {step}: {statement}\n{differ:?}");
        }
        changed += usize::from(met > 0);
    }
    assert!(changed > 30, "{changed}");
    let table = lancet_table::Table::open(&path).unwrap();
    assert_eq!(table.version(), 1 + changed as u64);
    assert!(table.verify(|_| ()).unwrap().problems.is_empty());
}
