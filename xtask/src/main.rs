//! Developer commands of lancet: `cargo xtask <command>`.
//!
//! | file | what |
//! |---|---|
//! | `main` | the commands, and the steps of `test` |
//! | `needs` | what the tests need, said and looked for first |
//! | `steps` | runs programs one after the other, with headings and times |
//! | `lints` | lints and tests out of one build |
//! | `reference` | comparisons with other implementations |
//! | `ready` | whether the crates could be published as they are |
//! | `fuzz` | fuzz targets and their corpora |
//! | `python` | the virtual environment with the reference |
//! | `package` | the Python package, put together and tested |

mod fuzz;
mod lints;
mod needs;
mod package;
mod python;
mod ready;
mod reference;
mod steps;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lints::{linting, linting_cluster};
use steps::{Result, Steps, cargo, output, run};

const USAGE: &str = "\
Usage: cargo xtask <command>

  test                  what a change has to pass
  compare               more random tables, histories of tables and faults, beside the reference and a model;
                        has to pass too
  ballista              what runs on Ballista, built and tested; has to pass too
  ready [--quick]       what publishing needs: packages, features, oldest compiler, documentation,
                          licences, fuzz targets and benchmarks compiled; --quick leaves out
                          what takes long
  golden                the golden files: read, written again, read by the reference
  reference [options]   random tables, both ways with the reference
                          --seeds 0..300   --profile flat|nested|all   --jobs 2
  mutants [options]     damaged files by the thousand, through every verb, store and query: no panic, no hang,
                        no wild allocation
                          --count 100000   --seed 0
  fuzz [target] [seconds]
                        fuzz targets, by default all of them for 300 seconds each
  parquet [options]     pages of other Parquet writers, decoded and encoded again
                          --seeds 0..6
                          --encoding fast|balanced|small|each
  forms                 every form lancet writes, forced, read by the reference
  sizes [options]       sizes and times of typical columns, beside those of the reference
                          --columns id,ts   --profiles fast,balanced,small   --no-times
  python [options]      the Python package: built, tested, its types checked; options are those of pytest
  venv                  makes the virtual environment of the reference and prints its interpreter
                          (in the folder $LANCET_VENV, otherwise in the user's cache)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = arguments.split_first().map_or(("", &[][..]), |(n, r)| (n.as_str(), r));
    let done = match (name, rest) {
        ("test", []) => test(),
        ("compare", []) => reference::compare(),
        ("ballista", []) => ballista(),
        ("ready", []) => ready::check(false),
        ("ready", [quick]) if quick == "--quick" => ready::check(true),
        ("golden", []) => reference::golden(),
        ("reference", options) => reference::one("random_both.py", options),
        ("mutants", options) => mutants(options),
        ("fuzz", options) => fuzz::run(&root(), options),
        ("parquet", options) => reference::parquet(options),
        ("forms", []) => reference::one("forms.py", &[]),
        ("sizes", options) => reference::sizes(options),
        ("python", options) => package::check(options),
        ("venv", []) => python::interpreter(&root()).map(|path| println!("{}", path.display())),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nFAILED: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Everything a change has to pass, cheapest first; the first failure ends it.
fn test() -> Result<()> {
    needs::check()?;
    let mut steps = Steps::default();
    steps.add_command("formatting", cargo(["fmt", "--all", "--check"]));
    steps.add("what the library depends on", light);
    steps.add("lints, tests, examples and the program: one build", || {
        run(linting(["test", "--no-run", "--all-targets"])?)
    });
    steps.add("unit and integration tests", || run(linting(tests().iter().copied())?));
    steps.add("examples in the documentation", || run(linting(["test", "--doc"])?));
    reference::add_all(&mut steps);
    package::add_tests(&mut steps, &[]);
    steps.run()
}

/// The crate that runs on Ballista: by itself, because its dependencies take as long to build as all others.
fn ballista() -> Result<()> {
    let mut steps = Steps::default();
    steps.add("lints, tests and examples on Ballista: one build", || {
        run(linting_cluster(["test", "--no-run", "--all-targets"])?)
    });
    steps.add("tests on Ballista", || run(linting_cluster(tests().iter().copied())?));
    steps.add("examples in the documentation", || run(linting_cluster(["test", "--doc"])?));
    steps.run()
}

fn tests() -> &'static [&'static str] {
    match output(cargo(["nextest", "--version"])) {
        Ok(_) => &["nextest", "run", "--no-fail-fast"],
        Err(_) => &["test", "--lib", "--bins", "--tests", "--no-fail-fast"],
    }
}

/// Fails if the library needs a runtime or a query engine, or the program one by default; nor do they need what
/// takes a minute to build.
fn light() -> Result<()> {
    let heavy =
        ["tokio", "datafusion", "object_store", "futures", "rayon", "arrow-cast", "arrow-ord"];
    for package in ["lancet", "lancet-cli"] {
        let tree = ["tree", "--package", package, "--edges", "normal", "--prefix", "none"];
        let text = output(cargo(tree))?;
        let mut crates = text.lines().filter_map(|line| line.split_whitespace().next());
        if let Some(name) = crates.find(|name| heavy.iter().any(|heavy| name.starts_with(heavy))) {
            return Err(format!("{package} depends on {name}"));
        }
    }
    Ok(())
}

/// Through the reader and through every verb of the program; then, a tenth as many, through drivers of requests, which
/// are slower.
fn mutants(options: &[String]) -> Result<()> {
    let value = |name: &str, default: u64| match options.iter().position(|word| word == name) {
        None => Ok(default),
        Some(at) => match options.get(at + 1).map(|value| value.parse()) {
            Some(Ok(value)) => Ok(value),
            _ => Err(format!("{name} needs a number")),
        },
    };
    let (count, seed) = (value("--count", 100_000)?, value("--seed", 0)?);
    for package in ["lancet", "lancet-cli"] {
        let mut mutants =
            cargo(["test", "--release", "--package", package, "--test", "mutants", "--"]);
        mutants.args(options);
        run(mutants)?;
    }
    for test in ["faults", "it"] {
        // As the tests are built, or DataFusion would be built once more.
        let mut mutants = linting(["test", "--test", test, "damaged_files"])?;
        mutants.env("LANCET_MUTANTS", (count / 10).to_string());
        mutants.env("LANCET_SEED", seed.to_string());
        run(mutants)?;
    }
    Ok(())
}

/// The folder that everything is built into. This program runs from a folder in it.
fn target() -> Result<PathBuf> {
    let this = std::env::current_exe().map_err(|e| format!("where am I? {e}"))?;
    let target = this.parent().and_then(Path::parent).ok_or("xtask is not in a target folder")?;
    Ok(target.to_path_buf())
}

/// The clone that this program was started in. Not the one it was compiled in: with a target folder shared by
/// several clones, that may be gone.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    Path::new(&package).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}
