//! Tables and queries of TPC-H, as Lance and as Parquet.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use tpchgen::generators::{CustomerGenerator, LineItemGenerator, OrderGenerator, PartGenerator};
use tpchgen_arrow::{CustomerArrow, LineItemArrow, OrderArrow, PartArrow};

/// The tables that the queries need.
pub const TABLES: [&str; 4] = ["lineitem", "orders", "customer", "part"];

/// Queries by their numbers.
pub const QUERIES: [(&str, &str); 6] =
    [("Q1", Q1), ("Q3", Q3), ("Q6", Q6), ("Q12", Q12), ("Q14", Q14), ("Q19", Q19)];

const Q1: &str = "\
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty,
       sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
       avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price,
       avg(l_discount) AS avg_disc, count(*) AS count_order
FROM lineitem WHERE l_shipdate <= date '1998-09-02'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus";

const Q3: &str = "\
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < date '1995-03-15' AND l_shipdate > date '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT 10";

const Q6: &str = "\
SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24";

const Q12: &str = "\
SELECT l_shipmode,
       sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high,
       sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP')
  AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
  AND l_receiptdate >= date '1994-01-01' AND l_receiptdate < date '1995-01-01'
GROUP BY l_shipmode ORDER BY l_shipmode";

const Q14: &str = "\
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount)
                         ELSE 0 END) / sum(l_extendedprice * (1 - l_discount)) AS promo
FROM lineitem, part
WHERE l_partkey = p_partkey
  AND l_shipdate >= date '1995-09-01' AND l_shipdate < date '1995-10-01'";

const Q19: &str = "\
SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part
WHERE p_partkey = l_partkey AND l_shipmode IN ('AIR', 'AIR REG')
  AND l_shipinstruct = 'DELIVER IN PERSON'
  AND ((p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5)
    OR (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10)
    OR (p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15))";

/// Writes all tables into a folder, each as `<table>.lance` and as `<table>.parquet`.
pub async fn write_tables(folder: &Path, scale: f64) -> Result<()> {
    for table in TABLES {
        // By one thread, so that the rows stay in their order.
        let config = datafusion::prelude::SessionConfig::new().with_target_partitions(1);
        let ctx = SessionContext::new_with_config(config);
        lancet_datafusion::register(&ctx)?;
        let batches = generate(table, scale)?;
        let schema = batches[0].schema();
        ctx.register_table(table, Arc::new(MemTable::try_new(schema, vec![batches])?))?;
        for ending in ["lance", "parquet"] {
            let path = folder.join(table).with_extension(ending);
            let options = match ending {
                "parquet" => " OPTIONS ('format.compression' 'snappy')",
                _ => "",
            };
            let copy = format!("COPY {table} TO '{}'{options}", path.display());
            ctx.sql(&copy).await?.collect().await?;
        }
    }
    Ok(())
}

/// Makes the files with one ending the tables of a session.
pub async fn register_tables(ctx: &SessionContext, folder: &Path, ending: &str) -> Result<()> {
    lancet_datafusion::register(ctx)?;
    for table in TABLES {
        let path = folder.join(table).with_extension(ending);
        let create = format!(
            "CREATE EXTERNAL TABLE {table} STORED AS {ending} LOCATION '{}'",
            path.display()
        );
        ctx.sql(&create).await?.collect().await?;
    }
    Ok(())
}

fn generate(table: &str, scale: f64) -> Result<Vec<RecordBatch>> {
    let batches: Result<Vec<RecordBatch>, ArrowError> = match table {
        "lineitem" => LineItemArrow::new(LineItemGenerator::new(scale, 1, 1)).collect(),
        "orders" => OrderArrow::new(OrderGenerator::new(scale, 1, 1)).collect(),
        "customer" => CustomerArrow::new(CustomerGenerator::new(scale, 1, 1)).collect(),
        _ => PartArrow::new(PartGenerator::new(scale, 1, 1)).collect(),
    };
    Ok(batches?)
}
