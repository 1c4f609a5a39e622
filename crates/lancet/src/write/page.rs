//! The rows of a column as pages: levels and values out of their pieces, a form for the values.
//!
//! Rows whose levels no page can hold are halved until one can; a single row of that kind is zipped.

use arrow_array::{Array, ArrayRef};

use super::blob;
use super::column::ColumnPlan;
use super::dictionary::PageDictionary;
use super::entries::PageEntries;
use super::long_row;
use super::summary::{ExplainedPage, Why};
use crate::choose::{
    Form, MiniBlockForm, Subject, choose, choose_dictionary_column, level_compression,
};
use crate::codec::Values;
use crate::error::{Error, Result};
use crate::levels::{LeafPiece, Numbering, Shredded, shred};
use crate::measure::{fill_nulls, measure};
use crate::page::encode::{PageLevels, all_null, scalar};
use crate::page::mini_block::encode::MiniBlockInput;
use crate::page::{full_zip, mini_block};
use crate::schema::columns::LeafKind;
use crate::schema::from_arrow;

impl ColumnPlan {
    /// Encodes pieces as one page, or as several if one cannot hold their levels.
    pub(super) fn encode(
        &self,
        roots: &[ArrayRef],
        pieces: &[LeafPiece],
        entries: &mut PageEntries,
        pages: &mut Vec<ExplainedPage>,
    ) -> Result<()> {
        let mut shredded = shred(pieces)?;
        shredded.make_nullable(&self.nullable);
        if let Some(page) = self.encode_page(pieces, &shredded, entries)? {
            pages.push(page);
            return Ok(());
        }
        let Some(halves) = halve(roots) else {
            pages.push(self.encode_long_row(pieces, &shredded)?);
            return Ok(());
        };
        for roots in halves {
            let pieces = roots.iter().map(|root| self.extract(root));
            self.encode(&roots, &pieces.collect::<Result<Vec<_>>>()?, entries, pages)?;
        }
        Ok(())
    }

    fn encode_page(
        &self,
        pieces: &[LeafPiece],
        shredded: &Shredded,
        entries: &mut PageEntries,
    ) -> Result<Option<ExplainedPage>> {
        let levels = PageLevels::from(shredded);
        if self.kind == LeafKind::Blob {
            let page = blob::encode_page(pieces, levels, self.rules)?;
            return Ok(Some(Why::of("blobs lie outside of pages").page(page)));
        }
        let valid = valid_values(shredded)?;
        let nothing_valid = match &valid {
            Some(valid) => !valid.contains(&true),
            None => shredded.num_values == 0,
        };
        if nothing_valid {
            let page = all_null(levels, self.rules)?;
            return Ok(Some(Why::of("all values are null").page(page)));
        }
        if let Some(keys) = self.keys {
            let slots = &shredded.slots;
            let page = PageDictionary::build(pieces, slots, valid.as_deref(), &self.values, keys)?;
            entries.add(&page.items, keys)?;
            let choice =
                choose_dictionary_column(page.keys, page.items, &self.settings, self.rules)?;
            let values = Values::new(&self.values);
            return self.encode_form(levels, values, choice.form, Why::of(choice.reason));
        }
        let mut values = self.page_values(pieces, shredded)?;
        if let Some(valid) = &valid {
            fill_nulls(&mut values, valid);
        }
        let measures = measure(&values, valid.as_deref());
        let choice = choose(Subject {
            values: &values,
            measures: &measures,
            valid: valid.as_deref(),
            settings: &self.settings,
            rules: self.rules,
        });
        let choice = choice.map_err(|error| in_column(&self.name, error))?;
        let why = Why { reason: choice.reason, candidates: choice.candidates };
        self.encode_form(levels, values, choice.form, why)
    }

    /// Encodes values in the form chosen for them.
    fn encode_form(
        &self,
        levels: PageLevels<'_>,
        values: Values,
        form: Form,
        why: Why,
    ) -> Result<Option<ExplainedPage>> {
        let page = match form {
            Form::AllNull => all_null(levels, self.rules).map(Some),
            Form::Constant(position) => {
                let mut value = Values::new(&self.values);
                value.append_range(&values, position..position + 1)?;
                scalar(levels, &value, self.rules).map(Some)
            }
            Form::MiniBlock(form) => {
                let MiniBlockForm { encoding, chunk_size, values: replaced, dictionary } = form;
                let input = MiniBlockInput {
                    levels,
                    values: replaced.as_ref().unwrap_or(&values),
                    encoding,
                    dictionary: dictionary.as_ref().map(|(e, items)| (e.clone(), items)),
                    chunk_size,
                    level_compression: level_compression(&self.settings),
                };
                mini_block::encode::encode(&input, self.rules)
            }
            Form::FullZip { encoding, values: replaced } => {
                full_zip::encode::encode(levels, replaced.unwrap_or(values), encoding).map(Some)
            }
        };
        Ok(page?.map(|page| why.page(page)))
    }

    /// Encodes a single row that no chunk can hold.
    fn encode_long_row(&self, pieces: &[LeafPiece], shredded: &Shredded) -> Result<ExplainedPage> {
        let refused = |error: Error| match error {
            Error::Unsupported(why) => Error::unsupported(format!(
                "a row of `{}` has {} levels around {} values, too many for a chunk, and cannot \
                 be zipped: {why}",
                self.field.name(),
                shredded.num_entries,
                shredded.num_values
            )),
            other => other,
        };
        if self.keys.is_some() {
            let why = "dictionaries; cast the column to the type of their values";
            return Err(refused(Error::unsupported(why)));
        }
        let values = self.page_values(pieces, shredded)?;
        let encoding = long_row::zipped_encoding(&values, self.rules).map_err(refused)?;
        let page = full_zip::encode::encode(PageLevels::from(shredded), values, encoding)?;
        Ok(Why::of("a row has more levels than a chunk can count").page(page))
    }

    /// The values of a page.
    fn page_values(&self, pieces: &[LeafPiece], shredded: &Shredded) -> Result<Values> {
        let mut values = Values::new(&self.values);
        values.reserve(shredded.slots.iter().map(|(_, range)| range.len()).sum(), usize::MAX);
        for (piece, range) in &shredded.slots {
            if let Some(piece) = pieces.get(*piece) {
                from_arrow::append(&mut values, &piece.values, range.clone())?;
            }
        }
        Ok(values)
    }
}

/// For each value whether it is not null; `None` if all are.
fn valid_values(shredded: &Shredded) -> Result<Option<Vec<bool>>> {
    let Some(def) = &shredded.def else { return Ok(None) };
    let numbering = Numbering::new(&shredded.layers)?;
    let visible = def.iter().filter(|def| numbering.is_visible(**def));
    Ok(Some(visible.map(|def| *def == 0).collect()))
}

/// The first and the second half of the rows; `None` for a single row.
fn halve(roots: &[ArrayRef]) -> Option<[Vec<ArrayRef>; 2]> {
    let rows: usize = roots.iter().map(|root| root.len()).sum();
    let mut left = rows / 2;
    if left == 0 {
        return None;
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for root in roots {
        let cut = left.min(root.len());
        left -= cut;
        if cut > 0 {
            first.push(root.slice(0, cut));
        }
        if cut < root.len() {
            second.push(root.slice(cut, root.len() - cut));
        }
    }
    Some([first, second])
}

fn in_column(name: &str, error: Error) -> Error {
    match error {
        Error::Invalid(message) => Error::invalid(format!("column `{name}`: {message}")),
        other => other,
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
