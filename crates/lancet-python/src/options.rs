//! How files are read.

use lancet::ReadOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::option;
use crate::memory::Memory;

/// Whose memory rows lie in that are read from a path.
pub(crate) fn memory_of(options: &Bound<'_, PyDict>) -> PyResult<Memory> {
    let map = options.get_item("memory_map")?.filter(|map| !map.is_none());
    let is_mapped = map.map(|map| option("memory_map", &map)).transpose()?.unwrap_or(false);
    Ok(if is_mapped { Memory::Shared } else { Memory::Own })
}

/// The options of `lancet.open`.
pub(crate) fn read_options(options: &Bound<'_, PyDict>) -> PyResult<ReadOptions> {
    let mut read = ReadOptions::default();
    for (name, value) in options {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        read = match name.as_str() {
            "memory_limit" => read.with_memory_limit(option(&name, &value)?),
            "verify_checksums" => read.with_verify_checksums(option(&name, &value)?),
            "require_checksums" => read.with_require_checksums(option(&name, &value)?),
            "zone_maps" => read.with_zone_maps(option(&name, &value)?),
            "threads" => read.with_threads(option(&name, &value)?),
            "memory_map" => {
                let map: bool = option(&name, &value)?;
                // SAFETY: the caller asks for it, and the documentation says what it costs: nobody may change the
                // file meanwhile.
                unsafe { read.with_memory_map(map) }
            }
            other => {
                return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "there is no option `{other}`"
                )));
            }
        };
    }
    Ok(read)
}
