//! Damaged files through every verb of the program, in process: no panic, no hang, no wild allocation, and
//! nothing left beside what was written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use lancet::FileReader;

use crate::damage::{Random, damaged};
use crate::{archives, mutate};

/// Nobody may ask for more at once.
pub const MOST_BYTES: usize = 2 << 30;
/// Files of more rows are not written whole.
const MOST_ROWS: u64 = 100_000;
/// What is printed is read no further.
const READ: usize = 1 << 18;

/// A reader that goes away.
struct Head(usize);

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Intact files, and a folder for damaged ones.
pub struct Verbs {
    lance: Vec<Vec<u8>>,
    /// With their endings.
    foreign: Vec<(&'static str, Vec<u8>)>,
    /// Tables, file by file.
    tables: Vec<BTreeMap<String, Vec<u8>>>,
    folder: PathBuf,
    /// How many runs went well, and how many failed.
    pub outcomes: [AtomicU64; 2],
}

impl Verbs {
    pub fn new(folder: &Path) -> Self {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).unwrap();
        let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lancet/tests/small");
        let mut paths: Vec<_> =
            std::fs::read_dir(small).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let lance: Vec<_> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
        let kept = archives::kept();
        let sound = kept.iter().filter(|tar| !archives::name(tar).starts_with("broken_"));
        let mut verbs = Self {
            lance,
            foreign: Vec::new(),
            tables: sound.map(|tar| archives::unpack(tar)).collect(),
            folder: folder.to_owned(),
            outcomes: [AtomicU64::new(0), AtomicU64::new(0)],
        };
        let rows: String = (0..60)
            .map(|i| format!("{{\"n\":{},\"w\":\"word {}\",\"l\":[{i}]}}\n", i * i, i % 9))
            .collect();
        let flat: String =
            (0..60).map(|i| format!("{},word {},{}\n", i * i, i % 9, i % 2 == 0)).collect();
        verbs.foreign.push(("jsonl", rows.into_bytes()));
        verbs.foreign.push(("csv", format!("n,w,b\n{flat}").into_bytes()));
        for ending in ["arrow", "arrows", "parquet", "json", "jsonl.gz", "csv.zst"] {
            let from = verbs.foreign[usize::from(ending.starts_with("csv"))].clone();
            let (input, output) = (verbs.path("from", from.0), verbs.path("to", ending));
            std::fs::write(&input, &from.1).unwrap();
            run(&format!("-q convert {} {}", input.display(), output.display())).unwrap();
            verbs.foreign.push((ending, std::fs::read(&output).unwrap()));
        }
        verbs
    }

    fn path(&self, name: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{name}.{ending}"))
    }

    /// One damaged file through a verb or two; the seed decides.
    pub fn check(&self, seed: u64) {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let (ending, bytes) = match random.below(3) {
            0 => {
                let (ending, bytes) = &self.foreign[random.below(self.foreign.len())];
                (*ending, damaged(bytes, &mut random))
            }
            _ => {
                let file = &self.lance[random.below(self.lance.len())];
                let other = &self.lance[random.below(self.lance.len())];
                ("lance", mutate::random(file, other, &mut |end| random.below(end)))
            }
        };
        let input = self.path(&format!("in-{seed}"), ending);
        std::fs::write(&input, &bytes).unwrap();
        let few = ending != "lance"
            || FileReader::open(&input).is_ok_and(|reader| reader.num_rows() <= MOST_ROWS);
        let output = ["lance", "csv", "jsonl", "parquet", "arrow", "arrows"][random.below(6)];
        let output = self.path(&format!("out-{seed}"), output);
        let (input, to) = (input.display(), output.display());
        let args = match random.below(12) {
            0 => format!("cat {input}"),
            1 => format!("cat {input} --format jsonl --rows 1.."),
            2 if ending == "lance" => format!("take {input} --rows 0,2,1"),
            3 => format!("schema {input}"),
            4 if ending == "lance" => format!("inspect {input} --pages"),
            5 if ending == "lance" => format!("stats {input} --zones"),
            6 if ending == "lance" => format!("verify {input}"),
            7 => format!("analyze {input} --sample-rows 50"),
            8 => format!("row-ids {input}"),
            9 if few => format!("convert {input} {to}"),
            10 if ending == "lance" => format!("report {input} -o - --no-analyze"),
            _ => format!("cat {input} --limit 1000 -o {to}"),
        };
        let ran = run(&format!("-q {args}"));
        self.outcomes[usize::from(ran.is_err())].fetch_add(1, Ordering::Relaxed);
        // Only what reads other formats may have caught a panic.
        let caught = ["internal error"].into_iter().chain((ending == "lance").then_some(".rs:"));
        if let Err(message) = &ran {
            let panicked = caught.into_iter().any(|words| message.contains(words));
            assert!(!panicked, "seed {seed}, lancet {args}: {message}");
        }
        for path in [self.folder.join(format!("in-{seed}.{ending}")), output] {
            let _ = std::fs::remove_file(path);
        }
    }

    /// A table with a damaged file through a verb; the seed decides.
    pub fn check_table(&self, seed: u64) {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 7);
        let mut files = self.tables[random.below(self.tables.len())].clone();
        files.retain(|name, _| name.starts_with("table/"));
        // Manifests, deletion files and tags are few and small, and decide what is read of the others.
        let names: Vec<String> = files.keys().cloned().collect();
        let is_data = |name: &&String| name.ends_with(".lance");
        let (data, others): (Vec<&String>, Vec<&String>) = names.iter().partition(is_data);
        let from = if random.below(4) == 0 && !data.is_empty() { &data } else { &others };
        let name = from[random.below(from.len())];
        let bytes = &files[name];
        let changed = match random.below(10) {
            0 => None,
            1 => Some(Vec::new()),
            _ if bytes.is_empty() => Some(vec![0]),
            _ => Some(damaged(bytes, &mut random)),
        };
        match changed {
            Some(bytes) => files.insert(name.clone(), bytes),
            None => files.remove(name),
        };
        let folder = self.folder.join(format!("table-{seed}"));
        archives::write_into(&files, &folder);
        let output = self.path(&format!("out-{seed}"), ["csv", "lance"][random.below(2)]);
        let (table, to) = (folder.join("table"), output.display().to_string());
        let table = table.display();
        let args = match random.below(13) {
            0 => format!("cat {table} --limit 1000 --with-row-id --with-row-address"),
            1 => format!("take {table} --rows 0,2,1"),
            2 => format!("take {table} --row-ids 0,1,4294967296"),
            3 => format!("schema {table}"),
            4 => format!("inspect {table} --fragments"),
            5 => format!("inspect {table} --json"),
            6 => format!("stats {table}"),
            7 => format!("verify {table}"),
            8 => format!("verify {table} --all-versions --json"),
            9 => format!("analyze {table} --sample-rows 50 --columns k"),
            10 => format!("versions {table}"),
            11 => format!("report {table} -o -"),
            _ => format!("cat {table} --limit 1000 -o {to}"),
        };
        let ran = run(&format!("-q {args}"));
        self.outcomes[usize::from(ran.is_err())].fetch_add(1, Ordering::Relaxed);
        if let Err(message) = &ran {
            let panicked = ["internal error", ".rs:"].iter().any(|words| message.contains(words));
            assert!(!panicked, "seed {seed}, {name}, lancet {args}: {message}");
        }
        std::fs::remove_dir_all(folder).unwrap();
        let _ = std::fs::remove_file(output);
    }

    /// One damaged file through a query.
    #[cfg(feature = "sql")]
    pub fn query(&self, seed: u64) {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        // Those that are tables as they are.
        let is_table = |ending| ["jsonl", "csv", "arrow", "arrows", "parquet"].contains(&ending);
        let tables: Vec<_> = self.foreign.iter().filter(|(ending, _)| is_table(*ending)).collect();
        let (ending, bytes) = tables[random.below(tables.len())];
        let input = self.path(&format!("table-{seed}"), ending);
        // Some are sound.
        let is_sound = random.below(20) == 0;
        let bytes = if is_sound { bytes.clone() } else { damaged(bytes, &mut random) };
        std::fs::write(&input, bytes).unwrap();
        let query = format!("SELECT * FROM '{}'", input.display());
        let words = ["lancet", "-q", "sql", "--threads", "2", "--limit", "1000", &query];
        let ran = run_words(words.map(OsString::from));
        self.outcomes[usize::from(ran.is_err())].fetch_add(1, Ordering::Relaxed);
        if let Err(message) = &ran {
            let is_told = !is_sound && !message.contains("internal error");
            assert!(is_told, "seed {seed}, {ending}: {message}");
        }
        std::fs::remove_file(input).unwrap();
    }

    /// What is left in the folder when all is done: nothing that a run has begun.
    pub fn judge(&self) {
        let entries = std::fs::read_dir(&self.folder).unwrap();
        let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        let left = names.iter().filter(|name| name.to_string_lossy().starts_with('.'));
        assert_eq!(left.count(), 0, "{names:?}");
        let [well, failed] = self.outcomes.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert!(well > failed / 20 && failed > well / 20, "{well} went well, {failed} failed");
    }
}

/// Runs the program in this process.
fn run(args: &str) -> Result<(), String> {
    run_words(std::iter::once("lancet").chain(args.split_whitespace()).map(OsString::from))
}

fn run_words(words: impl IntoIterator<Item = OsString>) -> Result<(), String> {
    lancet_cli::run_into(words, &mut Head(READ))
}
