//! The report of a file.

use super::markup::Markup;
use super::{bytes, cards, columns, each, header, health, pages, rows, why, zones};
use crate::report::byte_map::Kind;
use crate::report::facts::FileFacts;
use crate::units;

/// Writes the report.
pub fn write(page: &mut Markup, file: &FileFacts) {
    let mut sections = vec![("bytes", "Bytes")];
    if let Some(opened) = &file.opened {
        sections.push(("columns", "Columns"));
        if opened.columns.iter().any(|column| column.candidates.is_some()) {
            sections.push(("why", "Why"));
        }
        if opened.columns.iter().any(|column| column.zones.is_some()) {
            sections.push(("zones", "Zones"));
        }
        if pages::has_pages(&opened.columns) {
            sections.push(("pages", "Pages"));
        }
    }
    sections.push(("health", "Health"));
    if file.opened.is_some() {
        sections.push(("rows", "Rows"));
    }
    header(page, &file.name, Some(file.health.state), &sections);
    let kinds = file.map.by_kind();
    glance(page, file, &kinds);
    let all = "All bytes of the file, by what they are for";
    bytes::write(page, &kinds, (file.bytes, all), "In the order of the file");
    if let Some(opened) = &file.opened {
        columns::write(page, &opened.columns, opened.left_out, (opened.rows, file.bytes));
        why::write(page, &opened.columns, opened.profiles.as_ref());
        zones::write(page, &opened.columns, 0);
        pages::write(page, &opened.columns, opened.left_out);
    }
    health(page, &file.health);
    if let Some(opened) = &file.opened {
        rows::write(page, &opened.shown);
        columns::glossary(page, &opened.columns);
    }
    page.raw("</main>\n");
}

fn glance(page: &mut Markup, file: &FileFacts, kinds: &[(Kind, u64)]) {
    let none = String::new;
    let mut facts =
        vec![("Size", units::bytes(file.bytes), format!("{} bytes", units::count(file.bytes)))];
    if let Some(opened) = &file.opened {
        facts.push(("Rows", units::count(opened.rows), each(file.bytes, opened.rows)));
        facts.push((
            "Columns",
            units::count((opened.columns.len() + opened.left_out.columns) as u64),
            none(),
        ));
        facts.push(("Lance format", opened.version.clone(), none()));
        facts.push((
            "Written by",
            opened.writer.into(),
            match opened.writer {
                "lancet" => "it has lancet's checksums".into(),
                _ => "files do not tell; lancet's have checksums".into(),
            },
        ));
        if let Some(sampled) = opened.sampled.as_ref().filter(|sampled| sampled.arrow_bytes > 0) {
            let ratio = file.bytes as f64 / sampled.arrow_bytes as f64;
            let about = if sampled.rows >= opened.rows { "" } else { "about " };
            facts.push((
                "Beside Arrow",
                format!("{:.0} %", 100.0 * ratio),
                format!("of {about}{} in memory", units::bytes(sampled.arrow_bytes)),
            ));
        }
        let zone_maps = kinds.iter().find(|(kind, _)| *kind == Kind::ZoneMaps);
        let zone_maps = zone_maps.map_or(0, |(_, bytes)| *bytes);
        if zone_maps > 0 {
            facts.push(("Zone maps", units::bytes(zone_maps), none()));
        }
    }
    cards(page, &facts);
}
