//! The golden files: `index.json`, and a `NAME.lance` and a `NAME.arrow` for each case.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use serde_json::Value;

/// One golden file.
pub struct Case {
    /// Base name and version: `type_int_v21`.
    pub name: String,
    /// `2.0`, `2.1` or `2.2`.
    pub version: String,
    /// Sizes of the global buffers after the schema.
    pub global_buffers: Vec<u64>,
    folder: PathBuf,
}

/// The small part of the corpus that lives in this repository.
pub fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The whole corpus, beside the repository; not every machine has it.
pub fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/lance");
    folder.join("index.json").exists().then_some(folder)
}

/// The cases of a folder.
pub fn cases(folder: &Path) -> Vec<Case> {
    let index = folder.join("index.json");
    let text = std::fs::read_to_string(&index).unwrap_or_else(|e| panic!("{index:?}: {e}"));
    let index: Value = serde_json::from_str(&text).unwrap();
    let string = |case: &Value, key: &str| case[key].as_str().unwrap().to_string();
    let cases = index["cases"].as_array().unwrap().iter();
    cases
        .map(|case| Case {
            name: string(case, "name"),
            version: string(case, "version"),
            global_buffers: case["global_buffers"]
                .as_array()
                .unwrap()
                .iter()
                .map(|size| size.as_u64().unwrap())
                .collect(),
            folder: folder.to_path_buf(),
        })
        .collect()
}

impl Case {
    /// The Lance file.
    pub fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.lance", self.name))
    }

    /// The name without the version: cases of one base hold the same table.
    pub fn base(&self) -> &str {
        self.name.rsplit_once("_v").unwrap().0
    }

    /// The table that the reference reads from the file.
    pub fn table(&self) -> RecordBatch {
        let path = self.folder.join(format!("{}.arrow", self.name));
        let file = File::open(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
        let schema = reader.schema();
        let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
        match batches.as_slice() {
            [one] => one.clone(),
            several => arrow_select::concat::concat_batches(&schema, several).unwrap(),
        }
    }
}
