//! Samples of a call, taken in rounds: every round, each contender has its turn, so that whatever
//! disturbs the machine disturbs all of them.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process::{Reads, cpu_time};
use crate::results::{Cell, Metric};

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    pub min_rounds: usize,
    pub max_rounds: usize,
    /// After the least rounds, a contender stops when its samples took this long.
    pub enough: Duration,
}

impl Effort {
    pub fn new(quick: bool) -> Self {
        if quick {
            Self { min_rounds: 3, max_rounds: 9, enough: Duration::from_millis(120) }
        } else {
            Self { min_rounds: 5, max_rounds: 25, enough: Duration::from_millis(600) }
        }
    }

    /// For writes, which take long and vary little.
    pub fn of_writes(quick: bool) -> Self {
        Self { min_rounds: if quick { 2 } else { 3 }, max_rounds: 5, ..Self::new(quick) }
    }
}

/// Calls shorter than this are repeated within a sample.
const SHORT: Duration = Duration::from_millis(4);

/// One contender's turns.
pub struct Turn<'a> {
    pub contender: &'static str,
    /// The call; it is told how often it was called before.
    pub call: Box<dyn FnMut(usize) -> Result<()> + 'a>,
    /// What happens before every call, and is not measured.
    before: Option<Box<dyn FnMut() -> Result<()> + 'a>>,
    calls: usize,
    /// Calls in a sample.
    repeat: usize,
    spent: Duration,
    samples: Vec<Sample>,
}

/// Of one call.
#[derive(Debug, Clone, Copy)]
struct Sample {
    wall: f64,
    cpu: f64,
    reads: f64,
    read_bytes: f64,
    /// The wall time of the same call again, where it was cold.
    again: f64,
}

impl<'a> Turn<'a> {
    pub fn new(contender: &'static str, call: impl FnMut(usize) -> Result<()> + 'a) -> Self {
        let (call, samples) = (Box::new(call), Vec::new());
        Self { contender, call, before: None, calls: 0, repeat: 1, spent: Duration::ZERO, samples }
    }

    /// A turn whose calls find nothing in memory.
    pub fn cold(mut self, evict: impl FnMut() -> Result<()> + 'a) -> Self {
        self.before = Some(Box::new(evict));
        self
    }

    /// Calls until a sample's length is known, so that caches are warm as well.
    fn warm_up(&mut self) -> Result<()> {
        if self.before.is_some() {
            return self.call_once();
        }
        let start = Instant::now();
        let mut times = 0_u32;
        while times < 2 || (start.elapsed() < SHORT && times < 100) {
            self.call_once()?;
            times += 1;
        }
        let each = start.elapsed() / times;
        self.repeat = (SHORT.as_nanos() / each.as_nanos().max(1)).clamp(1, 1_000) as usize;
        Ok(())
    }

    fn call_once(&mut self) -> Result<()> {
        (self.call)(self.calls)?;
        self.calls += 1;
        Ok(())
    }

    /// The last call again, which finds in memory what it reads.
    fn repeat_last(&mut self) -> Result<Duration> {
        let start = Instant::now();
        (self.call)(self.calls.saturating_sub(1))?;
        Ok(start.elapsed())
    }

    fn sample(&mut self) -> Result<()> {
        self.before.as_mut().map_or(Ok(()), |before| before())?;
        let (reads, cpu, start) = (Reads::so_far()?, cpu_time(), Instant::now());
        for _ in 0..self.repeat {
            self.call_once()?;
        }
        let wall = start.elapsed();
        let cpu = cpu_time() - cpu;
        let reads = Reads::so_far()?.since(reads)?;
        self.spent += wall;
        let again = if self.before.is_some() { self.repeat_last()? } else { Duration::ZERO };
        let calls = self.repeat as f64;
        self.samples.push(Sample {
            wall: wall.as_secs_f64() / calls,
            cpu: cpu.as_secs_f64() / calls,
            reads: reads.calls as f64 / calls,
            read_bytes: reads.bytes as f64 / calls,
            again: again.as_secs_f64(),
        });
        Ok(())
    }

    fn cell(&self, table: &str, metric: Metric) -> Cell {
        let sorted = |of: fn(&Sample) -> f64| {
            let mut values: Vec<f64> = self.samples.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let cpu = sorted(|sample| sample.cpu);
        let values = if metric == Metric::Write { cpu.clone() } else { sorted(|s| s.wall) };
        Cell {
            table: table.into(),
            contender: self.contender.into(),
            metric,
            value: quantile(&values, 0.5),
            cpu: quantile(&cpu, 0.5),
            quartiles: [quantile(&values, 0.25), quantile(&values, 0.75)],
            samples: values.len(),
            reads: quantile(&sorted(|s| s.reads), 0.5).round() as u64,
            read_bytes: quantile(&sorted(|s| s.read_bytes), 0.5).round() as u64,
            again: quantile(&sorted(|s| s.again), 0.5),
        }
    }
}

/// Measures all contenders in turn.
pub fn measure(
    table: &str,
    metric: Metric,
    effort: Effort,
    mut turns: Vec<Turn<'_>>,
) -> Result<Vec<Cell>> {
    // A write needs no warming, and a second one costs seconds.
    if metric != Metric::Write {
        turns.iter_mut().try_for_each(Turn::warm_up)?;
    }
    for round in 0..effort.max_rounds {
        let count = turns.len().max(1);
        let mut anyone = false;
        for i in 0..turns.len() {
            // Each round begins with another contender.
            let turn = &mut turns[(i + round) % count];
            if round < effort.min_rounds || turn.spent < effort.enough {
                turn.sample()?;
                anyone = true;
            }
        }
        if !anyone {
            break;
        }
    }
    Ok(turns.iter().map(|turn| turn.cell(table, metric)).collect())
}

/// A quantile of sorted values; 0 of none.
fn quantile(sorted: &[f64], at: f64) -> f64 {
    let place = at * sorted.len().saturating_sub(1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    match (sorted.get(low), sorted.get(high)) {
        (Some(a), Some(b)) => a + (b - a) * place.fract(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[3.0], 0.75), 3.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), 3.0);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25), 2.0);
    }
}
