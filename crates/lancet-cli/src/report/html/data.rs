//! What the script of the page needs: columns with their pages and zones, and the map of bytes.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::columns::ratio;
use crate::report::byte_map::{Kind, Part};
use crate::report::facts::{
    ColumnFacts, Count, FragmentFacts, FragmentFiles, Health, LeftOut, PageGroup, Stored,
    StoredFile, Subject,
};
use crate::report::zones::{Band, Zones};

/// Parts of the map of bytes, and inside of those that stand together.
const MOST_PARTS: usize = 400;
const MOST_INSIDE: usize = 4_000;

/// The data of a page.
pub fn of(subject: &Subject) -> Value {
    match subject {
        Subject::File(file) => {
            let columns = file.opened.as_ref().map_or(&[][..], |opened| &opened.columns);
            let mut words = Words::default();
            let shown: Vec<Value> = columns.iter().map(|column| words.column(column)).collect();
            let left_out = file.opened.as_ref().map(|opened| opened.left_out);
            json!({
                "name": last_name(&file.name),
                "kinds": Kind::ALL.map(Kind::name),
                "columns": shown,
                "forms": words.forms.names,
                "holds": words.holds.names,
                "more": more(left_out.unwrap_or_default()),
                "strip": strip(&file.map.coarse(MOST_PARTS, MOST_INSIDE)),
                "marks": marks(&file.health),
            })
        }
        Subject::Table(table) => {
            let mut words = Words::default();
            let columns = table.columns.iter().map(|column| words.column(column));
            let columns: Vec<Value> = columns.collect();
            let fragment = |fragment: &FragmentFiles| {
                let files: Vec<Value> = fragment.files.iter().map(stored).collect();
                json!([fragment.id, fragment.rows, fragment.deleted, files])
            };
            let fragments: Vec<Value> = table.map.fragments.iter().map(fragment).collect();
            json!({
                "name": last_name(&table.name),
                "kinds": Kind::ALL.map(Kind::name),
                "columns": columns,
                "more": more(table.left_out),
                "forms": words.forms.names,
                "holds": words.holds.names,
                "groups": table.fragments.iter().map(group).collect::<Vec<_>>(),
                "fragments": fragments,
            })
        }
        Subject::Comparison(_) => json!({ "columns": [] }),
    }
}

/// The name without the folders, of which people know.
fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Fragments that stand together: their ids, how many there are, rows, deleted rows, bytes.
fn group(fragment: &FragmentFacts) -> Value {
    let (first, last) = fragment.ids;
    json!([first, last, fragment.fragments, fragment.rows, fragment.deleted, fragment.bytes])
}

/// A file of a table: its name, bytes, kind, and the parts of data files.
fn stored(file: &StoredFile) -> Value {
    match &file.holds {
        Stored::Data { parts, .. } => {
            json!([file.name, file.bytes, Kind::Values as u8, strip(parts)])
        }
        Stored::Blobs => json!([file.name, file.bytes, Kind::Blobs as u8, []]),
        Stored::Deletions => json!([file.name, file.bytes, Kind::DeletionFiles as u8, []]),
    }
}

/// The columns that are not listed: how many there are, their bytes.
fn more(left_out: LeftOut) -> Value {
    json!([left_out.columns, left_out.bytes])
}

/// The parts of a file: bytes, column or -1, kind, position; of parts that stand together how many there are, and which.
fn strip(parts: &[Part]) -> Vec<Value> {
    let part = |part: &Part| {
        let column = part.column.map_or(json!(-1), |column| json!(column));
        let mut all = vec![json!(part.bytes), column, json!(part.kind as u8), json!(part.start)];
        if part.parts > 1 {
            all.extend([json!(part.parts), Value::from(strip(&part.inside))]);
        }
        Value::from(all)
    };
    parts.iter().map(part).collect()
}

fn marks(health: &Health) -> Vec<Value> {
    let places = health.problems.iter().filter_map(|problem| Some((problem.at?, &problem.what)));
    places.map(|(at, what)| json!({ "at": at.byte(), "label": what })).collect()
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
        let mut page = vec![
            json!(group.rows),
            json!(group.bytes),
            json!(form),
            json!(group.start),
            json!(group.pages),
            json!(buffers),
        ];
        page.extend(group.fragment.map(Value::from));
        Value::from(page)
    }
}

fn zones(zones: &Zones) -> Value {
    let band = |band: &Band| {
        let (low, high) = band.bounds.map_or((Value::Null, Value::Null), |(low, high)| {
            (json!(low.round() as i64), json!(high.round() as i64))
        });
        json!([low, high, band.null_share.map(|share| share.round() as i64)])
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
