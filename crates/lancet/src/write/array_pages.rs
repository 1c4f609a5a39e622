//! Arrow arrays to the pages of a leaf column of 2.0.

use std::collections::HashMap;
use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::column::ColumnPlan;
use super::entries::{ColumnEntries, PageEntries};
use super::sink::Sink;
use crate::codec::{FixedValues, KeyType, Scheme, ValueType, Values};
use crate::error::{Error, Result};
use crate::options::Compression;
use crate::page_v2_0::encode::{self, Compressor, EncodedArray, NullableValues};
use crate::schema::from_arrow;

/// What is fixed about a leaf column from the start.
#[derive(Debug)]
pub(super) struct LeafPlan {
    data_type: DataType,
    values: ValueType,
    keys: Option<KeyType>,
    /// Names from the top down, with dots between.
    name: String,
    compressor: Option<Compressor>,
}

impl LeafPlan {
    pub(super) fn new(plan: ColumnPlan) -> Self {
        let options = &plan.settings.options;
        let level = options.level;
        let scheme = match options.compression {
            Some(Compression::Zstd) => Some(Scheme::Zstd),
            Some(Compression::Lz4) => Some(Scheme::Lz4),
            // Nothing else is compressed in 2.0; what is asked for of other columns has no effect.
            Some(Compression::None | Compression::Fsst) | None => None,
        };
        Self {
            data_type: plan.field.data_type().clone(),
            compressor: scheme.map(|scheme| Compressor { scheme, level }),
            values: plan.values,
            keys: plan.keys,
            name: plan.name,
        }
    }

    pub(super) fn is_packed(&self) -> bool {
        matches!(self.values, ValueType::Struct(_))
    }

    /// Remembers the entries of a page; refuses what the keys cannot number.
    pub(super) fn add_entries(&self, known: &mut ColumnEntries, page: PageEntries) -> Result<()> {
        self.keys.map_or(Ok(()), |keys| known.add(page, keys, &self.name))
    }

    /// Encodes arrays as one page, or as several if the dictionary of one cannot hold their entries.
    pub(super) fn encode(
        &self,
        arrays: &[ArrayRef],
        entries: &mut PageEntries,
        pages: &mut Vec<EncodedArray>,
    ) -> Result<()> {
        if let Some(keys) = self.keys {
            return self.dictionary_page(arrays, keys, entries, pages);
        }
        let mut values = Values::new(&self.values);
        for array in arrays {
            from_arrow::append(&mut values, array, 0..array.len())?;
        }
        let valid = validity(arrays)?;
        let column = NullableValues { values: &values, valid: valid.as_ref() };
        let may_share = matches!(self.data_type, DataType::Utf8 | DataType::Utf8View);
        pages.push(encode::values(&column, &self.values, may_share, self.compressor)?);
        Ok(())
    }

    /// A dictionary has as many items as its keys can number; with more the page is cut in two.
    fn dictionary_page(
        &self,
        arrays: &[ArrayRef],
        keys: KeyType,
        entries: &mut PageEntries,
        pages: &mut Vec<EncodedArray>,
    ) -> Result<()> {
        let rows: usize = arrays.iter().map(|array| array.len()).sum();
        match self.merge(arrays, keys, entries)? {
            Some(page) => pages.push(page),
            None if rows > 1 => {
                for half in cut(arrays, rows.div_ceil(2)) {
                    self.dictionary_page(&half, keys, entries, pages)?;
                }
            }
            None => return Err(Error::invalid("a key that numbers nothing")),
        }
        Ok(())
    }

    /// Keys into the entries of all arrays, in the order of their first use.
    fn merge(
        &self,
        arrays: &[ArrayRef],
        key_type: KeyType,
        found: &mut PageEntries,
    ) -> Result<Option<EncodedArray>> {
        let mut items = Values::new(&self.values);
        let mut positions: HashMap<Vec<u8>, u64> = HashMap::new();
        let mut keys: Vec<Option<u64>> = Vec::new();
        for array in arrays {
            let Some(dictionary) = array.as_any_dictionary_opt() else {
                let found = array.data_type();
                return Err(Error::invalid(format!("{found} where a dictionary is expected")));
            };
            let entries = dictionary.values();
            let mut values = Values::new(&self.values);
            from_arrow::append(&mut values, entries, 0..entries.len())?;
            if entries.is_empty() {
                keys.resize(keys.len() + array.len(), None);
                continue;
            }
            let normalized = dictionary.normalized_keys();
            for (row, entry) in normalized.into_iter().enumerate() {
                if array.is_null(row) || entries.is_null(entry) {
                    keys.push(None);
                    continue;
                }
                let next = items.len() as u64;
                let key = *positions.entry(values.value_bytes(entry)?).or_insert(next);
                if key == next {
                    items.append_range(&values, entry..entry + 1)?;
                }
                keys.push(Some(key));
            }
        }
        found.add(&items, key_type)?;
        let has_null = keys.contains(&None);
        let null_key = items.len() as u64;
        if has_null {
            items.push_default(1)?;
        }
        if items.len() as u64 > key_type.num_keys() {
            return Ok(None);
        }
        let mut stored = FixedValues::new(key_type.bits);
        let width = stored.width_bytes().unwrap_or(0);
        let bytes: Vec<u8> = keys
            .iter()
            .flat_map(|key| key.unwrap_or(null_key).to_le_bytes().into_iter().take(width))
            .collect();
        stored.append_flat(&bytes, 0..keys.len())?;
        encode::dictionary_page(&stored, &items, has_null, &self.values).map(Some)
    }
}

/// Arrays of so many bytes, cut into pages of at most `page_bytes` bytes, about.
pub(super) fn cut_pages(arrays: &[ArrayRef], bytes: u64, page_bytes: u64) -> Vec<Vec<ArrayRef>> {
    let rows: usize = arrays.iter().map(|array| array.len()).sum();
    let num_pages = bytes.div_ceil(page_bytes.max(1)).clamp(1, rows.max(1) as u64);
    let step = rows.div_ceil(usize::try_from(num_pages).unwrap_or(usize::MAX)).max(1);
    cut(arrays, step)
}

/// The arrays in parts of `step` rows.
fn cut(arrays: &[ArrayRef], step: usize) -> Vec<Vec<ArrayRef>> {
    let mut parts = vec![Vec::new()];
    let mut room = step;
    for array in arrays {
        let mut start = 0;
        while start < array.len() {
            if room == 0 {
                parts.push(Vec::new());
                room = step;
            }
            let len = room.min(array.len() - start);
            if let Some(part) = parts.last_mut() {
                part.push(array.slice(start, len));
            }
            start += len;
            room -= len;
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Which rows are not null; `None` if all are.
fn validity(arrays: &[ArrayRef]) -> Result<Option<FixedValues>> {
    if arrays.iter().all(|array| array.null_count() == 0) {
        return Ok(None);
    }
    let mut valid = FixedValues::new(1);
    for array in arrays {
        match array.nulls() {
            Some(nulls) => {
                let bits = nulls.offset()..nulls.offset() + nulls.len();
                valid.append_bits(nulls.validity(), bits)?;
            }
            None => valid.push_ones(array.len())?,
        }
    }
    Ok(Some(valid))
}

/// Writes the payloads of an array and adds where they lie: `1, 0` is null, `0, 0` empty.
pub(super) fn store_blobs<W: Write>(
    array: &ArrayRef,
    column: &str,
    sink: &mut Sink<W>,
    out: &mut Vec<[u64; 2]>,
) -> Result<()> {
    let Some(values) = array.as_binary_opt::<i64>() else {
        return Err(Error::unsupported(format!(
            "column `{column}`: blobs of type {}; cast it to LargeBinary",
            array.data_type()
        )));
    };
    for value in values {
        out.push(match value {
            None => [1, 0],
            Some([]) => [0, 0],
            Some(value) => {
                let span = sink.write_buffer(value)?;
                [span.start(), span.len()]
            }
        });
    }
    Ok(())
}

#[cfg(test)]
#[path = "array_pages_tests.rs"]
mod tests;
