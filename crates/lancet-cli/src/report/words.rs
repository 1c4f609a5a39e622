//! Layouts and encodings in a sentence each.

/// What stands in the description of an encoding, its name, and what it is.
const WORDS: [(&str, &str, &str); 18] = [
    (
        "mini-block",
        "Mini-block",
        "values in chunks of some kilobytes: a single row decodes one chunk, a scan all of them.",
    ),
    (
        "full-zip",
        "Full-zip",
        "the bytes of each row stand together: for long values, which are read one by one.",
    ),
    ("constant", "Constant", "the same value in every row takes no space at all."),
    (
        "blob",
        "Blob",
        "long values lie outside of the pages; these hold where they are, so that parts of them can be read.",
    ),
    ("array:", "Array", "a page of format 2.0: values and nulls in buffers of their own."),
    ("list:", "List", "a page of format 2.0 that holds where the lists of another column end."),
    (
        "struct:",
        "Struct",
        "a page of format 2.0 without values: those of the fields are in other columns.",
    ),
    ("all null", "All null", "there are no values, only nulls."),
    ("flat", "Flat", "values as they are in memory, all of the same width: nothing to decode."),
    (
        "variable",
        "Variable",
        "texts and bytes one after the other, with the places where each begins.",
    ),
    ("binary", "Binary", "texts and bytes one after the other, with the places where each ends."),
    ("bit-packed", "Bit-packed", "numbers with only as many bits as they need."),
    ("run-length", "Run-length", "values that repeat are stored once, with how often they come."),
    (
        "dictionary",
        "Dictionary",
        "different values are stored once, rows refer to them by small numbers.",
    ),
    (
        "byte stream split",
        "Byte stream split",
        "the first bytes of all numbers, then the second ones: floats compress better so.",
    ),
    (
        "fsst",
        "FSST",
        "frequent pieces of texts become single bytes; every text can be decoded alone.",
    ),
    ("fixed-size list", "Fixed-size list", "vectors: always the same number of items."),
    ("packed struct", "Packed struct", "the fields of a struct stand together, row by row."),
];

const SCHEMES: [(&str, &str, &str); 2] = [
    ("lz4", "LZ4", "general compression that is very fast to undo."),
    ("zstd", "Zstandard", "general compression that is smaller, and slower to undo."),
];

/// Names and explanations of what occurs in some descriptions.
pub fn explained<'a>(
    forms: impl Iterator<Item = &'a str> + Clone,
) -> Vec<(&'static str, &'static str)> {
    let occurs = |word: &str| forms.clone().any(|form| form.contains(word));
    let known = WORDS.iter().chain(&SCHEMES).filter(|(word, _, _)| occurs(word));
    known.map(|(_, name, about)| (*name, *about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_occurs_is_explained() {
        let forms = ["mini-block: zstd over flat 64-bit", "mini-block: bit-packed 32-bit"];
        let names: Vec<_> =
            explained(forms.into_iter()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Mini-block", "Flat", "Bit-packed", "Zstandard"]);
    }
}
