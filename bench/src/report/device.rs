//! lancet beside the device: what a cold call takes, and what the device takes at least for what the call reads.

use std::fmt::Write;

use super::digits;
use crate::cold::{MAX_DEPTH, PIECE, SCATTERED, SEQUENTIAL, scattered_name};
use crate::results::{Cell, Metric, Results};

/// Takes are to stay below so many times what the device takes, and below this share of what the best peer takes.
const TAKE_OF_LIMIT: f64 = 1.5;
const TAKE_OF_PEER: f64 = 0.5;
/// Scans are to run at this share of the speed of reads one after the other, or of the same scan in memory.
const SCAN_OF_SPEED: f64 = 0.9;

/// What the device does.
struct Device {
    /// Seconds for each of many reads at random that are asked for together, by their bytes; and for one of many that
    /// are read one after the other.
    reads: [(f64, f64); 3],
}

impl Device {
    fn of(results: &Results) -> Option<Self> {
        let value = |name: &str| {
            results.limits.iter().find(|limit| limit.name == name).map(|limit| limit.value)
        };
        let [short, long] = SCATTERED.map(|len| {
            let seconds = value(&scattered_name(len, MAX_DEPTH))? * 1e-6;
            Some((len as f64, seconds))
        });
        let piece = PIECE as f64;
        Some(Self { reads: [short?, long?, (piece, piece / (value(SEQUENTIAL)? * 1e9))] })
    }

    /// The least time for what a call reads: one piece after the other where it reads all, and else reads of their mean
    /// length, together.
    fn limit(&self, metric: Metric, cell: &Cell) -> f64 {
        let [short, long, (piece, seconds)] = self.reads;
        let in_order = cell.read_bytes as f64 * seconds / piece;
        if matches!(metric, Metric::Scan | Metric::ScanAll | Metric::Column) || cell.reads == 0 {
            return in_order;
        }
        let mean = cell.read_bytes as f64 / cell.reads as f64;
        let between = |(len, seconds): (f64, f64), (more, longer): (f64, f64)| {
            seconds + (mean - len) / (more - len) * (longer - seconds)
        };
        let each = match mean {
            _ if mean <= short.0 => short.1,
            _ if mean <= long.0 => between(short, long),
            _ => between(long, (piece, seconds)),
        };
        (cell.reads as f64 * each).max(in_order)
    }
}

/// What a metric aims at: a multiple of the limit, and a share of the best peer.
fn aims(metric: Metric) -> [Option<f64>; 2] {
    match metric {
        Metric::Take100 | Metric::Take10k => [Some(TAKE_OF_LIMIT), Some(TAKE_OF_PEER)],
        Metric::Scan | Metric::ScanAll => [Some(1.0 / SCAN_OF_SPEED), None],
        _ => [None, None],
    }
}

/// A ratio, bold where its aim is missed.
fn shown(ratio: f64, aim: Option<f64>) -> String {
    let figure = digits(ratio);
    if aim.is_some_and(|aim| ratio > aim) { format!("**{figure}**") } else { figure }
}

/// What lancet takes on cold files, in multiples of the limit and of what the best peer takes.
pub fn beside(text: &mut String, results: &Results) {
    let Some(device) = Device::of(results) else { return };
    let _ = writeln!(
        text,
        "## lancet beside the device\n\n\
         The device takes at least what so many reads of their mean length take, {MAX_DEPTH} at a time, and for scans what \
         their bytes take, one after the other. In memory is the same call right behind. The limit is the device, \
         for scans the slower of both. Bold: an aim is missed. Takes of 100 and 10,000 rows aim at \
         ≤ {TAKE_OF_LIMIT} of the limit and ≤ {TAKE_OF_PEER} of the best peer, full scans at ≥ {SCAN_OF_SPEED} of the \
         speed of the limit (≤ {} of its time).\n\n\
         | call | table | ms | device, ms | in memory, ms | of the limit | of the best peer |\n\
         |---|---|---:|---:|---:|---:|---:|",
        digits(1.0 / SCAN_OF_SPEED)
    );
    for metric in Metric::COLD {
        for table in &results.tables {
            let Some(cell) = results.cell(&table.name, "lancet", metric) else { continue };
            let (least, [of_limit, of_peer]) = (device.limit(metric, cell), aims(metric));
            let is_scan = matches!(metric, Metric::Scan | Metric::ScanAll);
            let limit = if is_scan { least.max(cell.again) } else { least };
            let peer = results.best(&table.name, metric, |name| name != "lancet");
            let peer = peer.map_or("–".into(), |(name, value)| {
                format!("{} {name}", shown(cell.value / value, of_peer))
            });
            // A call that reads nothing has no limit.
            let ratio =
                if limit > 0.0 { shown(cell.value / limit, of_limit) } else { "–".into() };
            let [ms, least] = [cell.value, least].map(|time| digits(time * 1e3));
            let again = if cell.again > 0.0 { digits(cell.again * 1e3) } else { "–".into() };
            let (title, table) = (metric.title(), &table.name);
            let _ = writeln!(
                text,
                "| {title} | {table} | {ms} | {least} | {again} | {ratio} | {peer} |"
            );
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Kind, Limit, TableNote};

    fn cell(contender: &str, metric: Metric, value: f64, reads: u64, read_bytes: u64) -> Cell {
        Cell {
            table: "t".into(),
            contender: contender.into(),
            metric,
            value,
            cpu: 0.0,
            quartiles: [0.0; 2],
            samples: 1,
            reads,
            read_bytes,
            again: 0.0,
        }
    }

    fn results(cells: Vec<Cell>) -> Results {
        let limit = |name: String, value| Limit { name, value, unit: String::new() };
        Results {
            processor: String::new(),
            cores: 2,
            quick: false,
            kind: Kind::Cold,
            load: [0.0; 2],
            seconds: 0.0,
            limits: vec![
                limit(scattered_name(4 << 10, MAX_DEPTH), 8.0),
                limit(scattered_name(64 << 10, MAX_DEPTH), 38.0),
                limit(SEQUENTIAL.into(), 2.0),
            ],
            tables: vec![TableNote {
                name: "t".into(),
                rows: 1,
                columns: 1,
                arrow_bytes: 1,
                column: "c".into(),
                take_rows: 1,
            }],
            cells,
        }
    }

    #[test]
    fn the_slower_of_both_limits_counts_and_missed_aims_are_bold() {
        let mut text = String::new();
        let again = |cell: Cell, again| Cell { again, ..cell };
        beside(
            &mut text,
            &results(vec![
                // 100 reads of 8 us, far more than their bytes take.
                again(cell("lancet", Metric::Take100, 2e-3, 100, 400_000), 1e-3),
                cell("vortex", Metric::Take100, 5e-3, 500, 400_000),
                // 200 MB at 2 GB/s.
                cell("lancet", Metric::Scan, 0.11, 10, 200_000_000),
                // What is in memory takes longer than the device.
                again(cell("lancet", Metric::ScanAll, 0.22, 10, 200_000_000), 0.2),
                // Reads of 34 KiB, half way between those that were measured: 23 us.
                cell("lancet", Metric::Take10k, 4.6e-3, 100, 3_481_600),
                // Long ones take what their bytes take.
                cell("lancet", Metric::Take1, 0.2, 10, 200_000_000),
            ]),
        );
        let rows = [
            "| take 100 rows, open reader | t | 2.00 | 0.800 | 1.00 | **2.50** | 0.400 vortex |",
            "| full scan, 1 core | t | 110 | 100 | – | 1.10 | – |",
            "| full scan, all cores | t | 220 | 100 | 200 | 1.10 | – |",
            "| take 10,000 rows, open reader | t | 4.60 | 2.30 | – | **2.00** | – |",
            "| take 1 row, open reader | t | 200 | 100 | – | 2.00 | – |",
        ];
        rows.iter().for_each(|row| assert!(text.contains(row), "{row} in {text}"));
    }

    #[test]
    fn without_limits_there_is_nothing_to_say() {
        let mut results = results(vec![cell("lancet", Metric::Scan, 1.0, 1, 1)]);
        results.limits.clear();
        let mut text = String::new();
        beside(&mut text, &results);
        assert_eq!(text, "");
    }
}
