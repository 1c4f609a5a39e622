//! What lancet aims at, as shares of what others take on the same table in the same run.

use crate::results::{Metric, Results};

/// A share to stay below.
pub struct Aim {
    pub title: &'static str,
    pub metric: Metric,
    /// Tables it is about; all if empty.
    tables: &'static [&'static str],
    /// Tables that have an aim of their own.
    except: &'static [&'static str],
    /// The peers that are to be met, and the share of the best of them.
    peers: fn(&str) -> bool,
    pub peers_title: &'static str,
    peer_share: Option<f64>,
    /// The share of the better of the two formats of `lance-file`.
    lance_share: Option<f64>,
}

pub const AIMS: [Aim; 9] = [
    aim("take of 1 row, open reader", Metric::Take1, Some(0.3), Some(0.15)),
    aim("take of 100 rows, open reader", Metric::Take100, Some(0.3), Some(0.15)),
    aim("take of 10,000 rows, open reader", Metric::Take10k, Some(1.0), Some(0.4)),
    aim("open + first row", Metric::Open, Some(0.5), Some(0.5)),
    Aim { except: &["vectors"], ..aim("full scan, 1 core", Metric::Scan, Some(1.0), Some(0.6)) },
    Aim {
        tables: &["vectors"],
        ..aim("full scan of vectors, 1 core", Metric::Scan, Some(0.6), None)
    },
    Aim {
        except: &["nested"],
        ..aim("one-column scan, 1 core", Metric::Column, Some(1.0), Some(0.6))
    },
    Aim {
        tables: &["nested"],
        ..aim("one-column scan of list<i32>, 1 core", Metric::Column, Some(1.0), Some(0.25))
    },
    aim("write, CPU time", Metric::Write, None, Some(1.0)),
];

/// The memory of a scan is held against Parquet's.
pub const MEMORY: Aim = Aim {
    peers: |name| name.starts_with("pq-"),
    peers_title: "best Parquet",
    ..aim("peak memory of a scan, 1 thread", Metric::Memory, Some(2.0), Some(0.3))
};

/// Vectors are only copied, so their scan has a floor: this share of the speed of `memcpy`.
pub const VECTORS_OF_MEMCPY: f64 = 0.7;

const fn aim(
    title: &'static str,
    metric: Metric,
    peer_share: Option<f64>,
    lance_share: Option<f64>,
) -> Aim {
    Aim {
        title,
        metric,
        tables: &[],
        except: &[],
        peers: is_peer,
        peers_title: "best peer",
        peer_share,
        lance_share,
    }
}

fn is_peer(name: &str) -> bool {
    name != "lancet"
}

fn is_lance(name: &str) -> bool {
    name.starts_with("lance-")
}

/// lancet's share of what someone else took.
pub struct Share {
    pub share: f64,
    pub of: String,
    pub aim: Option<f64>,
}

impl Share {
    pub fn missed(&self) -> bool {
        self.aim.is_some_and(|aim| self.share > aim)
    }
}

impl Aim {
    pub fn is_about(&self, table: &str) -> bool {
        (self.tables.is_empty() || self.tables.contains(&table)) && !self.except.contains(&table)
    }

    /// The shares of a table: of the best peer, and of `lance-file`.
    pub fn shares(&self, results: &Results, table: &str) -> [Option<Share>; 2] {
        let ours = results.value(table, "lancet", self.metric);
        let share = |among: fn(&str) -> bool, aim| {
            let (of, theirs) = results.best(table, self.metric, among)?;
            Some(Share { share: ours? / theirs, of: of.into(), aim })
        };
        [share(self.peers, self.peer_share), share(is_lance, self.lance_share)]
    }
}
