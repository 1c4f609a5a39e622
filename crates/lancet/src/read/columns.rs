//! The columns of a file: pages with layouts, or the arrays of 2.0.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::arrays;
use super::file::{OpenFile, within};
use super::layouts::LayoutColumns;
use super::projection::Projection;
use super::steps::check_lengths;
use crate::container::zone_place::ZonePlace;
use crate::error::{Corrupt, Error, Result};
use crate::page_v2_0;
use crate::schema::leaves::LeafColumnType;
use crate::span::Span;

/// The columns of a file as far as they are known. This is where the two kinds of files part.
#[derive(Debug)]
pub(super) enum FileColumns {
    /// 2.1 and 2.2.
    Layouts(LayoutColumns),
    /// 2.0.
    Arrays(page_v2_0::Columns),
}

/// A column of a projection: the position of its leaf, or in 2.0 the number of the column.
pub(super) type Place = usize;

/// Columns whose metadata has to be read, and where it is.
#[derive(Debug, Default)]
pub(super) struct MissingColumns {
    places: Vec<Place>,
    pub(super) spans: Vec<Span>,
}

impl OpenFile {
    /// Loads the columns whose metadata came with the end of the file; those that have to be read, and where.
    pub(super) fn missing_columns(&self, columns: &Projection) -> Result<MissingColumns> {
        self.named(self.find_missing(columns))
    }

    fn find_missing(&self, columns: &Projection) -> Result<MissingColumns> {
        let wanted: Vec<(Place, u32)> = match &self.columns {
            FileColumns::Layouts(known) => known.missing(columns.leaves()),
            FileColumns::Arrays(known) => arrays::missing(known, columns.nodes())?,
        };
        let mut missing = MissingColumns::default();
        for (place, column) in wanted {
            match self.index.column_bytes(column) {
                Some(bytes) => self.load_column(columns, place, &bytes)?,
                None => {
                    missing.places.push(place);
                    missing.spans.push(self.metadata_span(column)?);
                }
            }
        }
        within(
            Span::total(&missing.spans),
            self.options.max_metadata_bytes,
            "the metadata of the columns",
        )?;
        Ok(missing)
    }

    /// Takes the bytes of the metadata that was missing.
    pub(super) fn load_missing(
        &self,
        columns: &Projection,
        missing: &MissingColumns,
        bytes: &[Bytes],
    ) -> Result<()> {
        check_lengths(&missing.spans, bytes)?;
        let mut fetched = missing.places.iter().zip(bytes);
        self.named(fetched.try_for_each(|(place, bytes)| self.load_column(columns, *place, bytes)))
    }

    /// Where the metadata of a column is.
    pub(super) fn metadata_span(&self, column: u32) -> Result<Span> {
        let known = &self.index.columns;
        known.get(column as usize).copied().ok_or_else(|| {
            let found = known.len();
            Error::corrupt(format!("the schema needs column {column}, but the file has {found}"))
        })
    }

    /// The column of which there are pages in these bytes, as far as columns are loaded; none if there are
    /// several.
    pub(super) fn column_at(&self, span: Span) -> Option<u32> {
        let meets = |buffers: &[Span]| buffers.iter().any(|buffer| buffer.overlaps(&span));
        let is_there = |column: u32| match &self.columns {
            FileColumns::Layouts(known) => known
                .get(column)
                .is_some_and(|column| column.pages.iter().any(|page| meets(&page.buffers))),
            FileColumns::Arrays(known) => known
                .get(column)
                .is_some_and(|column| column.pages.iter().any(|page| meets(&page.buffers))),
        };
        let mut columns = (0..).take(self.index.columns.len()).filter(|column| is_there(*column));
        columns.next().filter(|_| columns.next().is_none())
    }

    /// Parses and checks the metadata of a column of the projection, and keeps it.
    fn load_column(&self, columns: &Projection, place: Place, bytes: &Bytes) -> Result<()> {
        match &self.columns {
            FileColumns::Layouts(known) => {
                let leaf = columns.leaves().get(place);
                let leaf = leaf.ok_or_else(|| Error::invalid("a column of another projection"))?;
                known.load(self, leaf, bytes).map(drop)
            }
            FileColumns::Arrays(known) => {
                let column = u32::try_from(place).unwrap_or(u32::MAX);
                arrays::load(self, known, column, bytes).map(drop)
            }
        }
    }

    /// The number of rows that columns have which are read together; their metadata is loaded.
    pub(super) fn common_rows(&self, columns: &Projection) -> Result<u64> {
        if let Some(num_rows) = columns.num_rows() {
            return Ok(num_rows);
        }
        let num_rows = self.named(match &self.columns {
            FileColumns::Layouts(known) => known.common_rows(self, columns.leaves()),
            FileColumns::Arrays(known) => arrays::common_rows(self, known, columns.nodes()),
        })?;
        columns.set_num_rows(num_rows);
        Ok(num_rows)
    }

    /// About how many bytes a row of the columns takes in memory, going by those whose metadata was read before.
    pub fn row_bytes(&self, columns: &Projection) -> u64 {
        match &self.columns {
            FileColumns::Layouts(known) => known.row_bytes(columns.leaves()),
            FileColumns::Arrays(known) => arrays::row_bytes(known, columns, self.index.num_rows),
        }
    }

    /// About how many of these bytes are values of different lengths. In 2.0 they are not told from others.
    pub(super) fn text_bytes(&self, columns: &Projection) -> u64 {
        let has_text = || columns.leaves().iter().any(LeafColumnType::is_text);
        match &self.columns {
            FileColumns::Layouts(known) => known.text_bytes(columns.leaves()),
            FileColumns::Arrays(_) if has_text() => self.row_bytes(columns),
            FileColumns::Arrays(_) => 0,
        }
    }

    /// Bytes of the columns in the file; those of 2.0 are not counted.
    pub(super) fn stored_bytes(&self, columns: &Projection) -> Option<u64> {
        match &self.columns {
            FileColumns::Layouts(known) => Some(known.stored_bytes(columns.leaves())),
            FileColumns::Arrays(_) => None,
        }
    }

    /// Bytes of what has to be known of all pages of the columns before rows are found in them.
    pub(super) fn index_bytes(&self, columns: &Projection) -> u64 {
        match &self.columns {
            FileColumns::Layouts(known) => known.index_bytes(columns.leaves()),
            FileColumns::Arrays(_) => 0,
        }
    }

    /// The rows after the pages of the column that takes the most bytes; none in 2.0.
    pub(super) fn page_ends(&self, columns: &Projection) -> Vec<u64> {
        match &self.columns {
            FileColumns::Layouts(known) => known.page_ends_of_widest(columns.leaves()),
            FileColumns::Arrays(_) => Vec::new(),
        }
    }

    /// What a column that was loaded says about its zone map, and its number of rows.
    pub(super) fn zone_place(&self, column: u32) -> Option<(Result<ZonePlace, Corrupt>, u64)> {
        let (place, num_rows) = match &self.columns {
            FileColumns::Layouts(known) => {
                known.get(column).map(|c| (c.zone_map.clone(), c.num_rows))?
            }
            FileColumns::Arrays(known) => {
                known.get(column).map(|c| (c.zone_map.clone(), c.num_rows))?
            }
        };
        Some((place?, num_rows))
    }

    /// The names of the columns that are wanted, as far as the schema has them.
    pub(super) fn column_names(&self, wanted: &BTreeSet<u32>) -> BTreeMap<u32, String> {
        let arrays = match &self.columns {
            FileColumns::Layouts(_) => None,
            FileColumns::Arrays(known) => Some(known),
        };
        super::names::column_names(&self.nodes, arrays, wanted)
    }
}
