//! What the script of the page needs: columns with their pages and zones, and the map of bytes.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::columns::ratio;
use crate::report::MOST_COLUMNS;
use crate::report::byte_map::{ByteMap, Kind};
use crate::report::facts::{ColumnFacts, Count, Health, PageGroup, Subject};
use crate::report::zones::{Band, Zones};

/// Parts of the map of bytes.
const MOST_PARTS: usize = 400;

/// The data of a page.
pub fn of(subject: &Subject) -> Value {
    match subject {
        Subject::File(file) => {
            let columns = file.opened.as_ref().map_or(&[][..], |opened| &opened.columns);
            let mut words = Words::default();
            let shown = columns.iter().take(MOST_COLUMNS).map(|column| words.column(column));
            let shown: Vec<Value> = shown.collect();
            json!({
                "name": file.name.rsplit(['/', '\\']).next(),
                "kinds": Kind::ALL.map(Kind::name),
                "columns": shown,
                "forms": words.forms.names,
                "holds": words.holds.names,
                "strip": strip(&file.map, shown.len()),
                "marks": marks(&file.health),
            })
        }
        Subject::Table(table) => {
            let mut words = Words::default();
            let columns = table.columns.iter().take(MOST_COLUMNS);
            let columns: Vec<Value> = columns.map(|column| words.column(column)).collect();
            json!({ "columns": columns, "forms": words.forms.names, "holds": words.holds.names })
        }
        Subject::Comparison(_) => json!({ "columns": [] }),
    }
}

/// The parts of the file: bytes, column or -1, kind, position.
fn strip(map: &ByteMap, num_columns: usize) -> Vec<Value> {
    let part = |part: crate::report::byte_map::Part| {
        let column = part.column.filter(|column| *column < num_columns);
        json!([
            part.bytes,
            column.map_or(json!(-1), |column| json!(column)),
            part.kind as u8,
            part.start
        ])
    };
    map.coarse(MOST_PARTS).into_iter().map(part).collect()
}

fn marks(health: &Health) -> Vec<Value> {
    let places = health.problems.iter().filter_map(|problem| Some((problem.at?, &problem.what)));
    places.map(|(at, what)| json!({ "at": at, "label": what })).collect()
}

/// Texts that come often, by their places in a list.
#[derive(Default)]
struct List {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl List {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

#[derive(Default)]
struct Words {
    forms: List,
    holds: List,
}

impl Words {
    fn column(&mut self, column: &ColumnFacts) -> Value {
        let nulls = column.nulls.map(Count::number);
        let per_row = (column.rows > 0).then(|| short(column.bytes as f64 / column.rows as f64));
        let pages: Vec<Value> = column.pages.groups.iter().map(|group| self.pages(group)).collect();
        json!([
            column.name,
            column.data_type,
            column.bytes,
            nulls,
            column.distinct.map(Count::number),
            ratio(column).map(short),
            per_row,
            pages,
            column.zones.as_ref().map(zones),
        ])
    }

    fn pages(&mut self, group: &PageGroup) -> Value {
        let buffers = group.buffers.iter().map(|(holds, start, bytes)| {
            let kind = Kind::of_buffer(holds) as u8;
            json!([self.holds.place(holds), start, bytes, kind])
        });
        let buffers: Vec<Value> = buffers.collect();
        let form = self.forms.place(&group.form);
        json!([group.rows, group.bytes, form, group.start, group.pages, buffers])
    }
}

fn zones(zones: &Zones) -> Value {
    let band = |band: &Band| {
        let (low, high) = band.bounds.map_or((Value::Null, Value::Null), |(low, high)| {
            (json!(low.round() as i64), json!(high.round() as i64))
        });
        json!([low, high, band.null_share.round() as i64])
    };
    json!({ "o": zones.order.name(), "b": zones.bands.iter().map(band).collect::<Vec<_>>() })
}

/// A number with some digits.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10_f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(0.123_456_789).to_string(), "0.1235");
        assert_eq!(short(123_456.789).to_string(), "123500");
        assert_eq!((short(0.0), short(f64::NAN)), (0.0, 0.0));
    }

    #[test]
    fn texts_come_once() {
        let mut list = List::default();
        assert_eq!([list.place("a"), list.place("b"), list.place("a")], [0, 1, 0]);
        assert_eq!(list.names, ["a", "b"]);
    }
}
