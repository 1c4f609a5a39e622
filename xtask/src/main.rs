//! Developer commands of lancet: `cargo xtask <command>`.
//!
//! | file | what |
//! |---|---|
//! | `main` | the commands |
//! | `steps` | runs programs one after the other, with headings and times |
//! | `fuzz` | fuzz targets and their corpora |
//! | `python` | the virtual environment with the reference |

mod fuzz;
mod python;
mod steps;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use steps::{Result, Steps, cargo, command};

const USAGE: &str = "\
Usage: cargo xtask <command>

  test                  everything a change has to pass
  golden                the golden files: read, written again, read by the reference
  reference [options]   random tables, both ways with the reference
                          --seeds 0..300   --profile flat|nested|all   --jobs 2
  mutants [options]     damaged files by the thousand: no panic, no hang, no wild allocation
                          --count 100000   --seed 0
  fuzz [target] [seconds]
                        fuzz targets, all of them for 300 seconds each unless told
  parquet [options]     pages of other Parquet writers, decoded and encoded again
                          --seeds 0..6
                          --encoding fast|balanced|small|each
  forms                 every form lancet writes, forced, read by the reference
  sizes [options]       sizes and times of typical columns, beside those of the reference
                          --columns id,ts   --profiles fast,balanced,small   --no-times
  python                makes the virtual environment of the reference and prints its interpreter
                          (in the folder $LANCET_VENV, otherwise in the user's cache)";

/// Seeds of the random tables in `test`: enough to meet every type and pattern, small enough to wait for.
const TEST_SEEDS: [(&str, &str); 3] = [("flat", "0..100"), ("nested", "0..100"), ("all", "0..100")];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = arguments.split_first().map_or(("", &[][..]), |(n, r)| (n.as_str(), r));
    let done = match (name, rest) {
        ("test", []) => test(),
        ("golden", []) => golden(),
        ("reference", options) => reference(options),
        ("mutants", options) => mutants(options),
        ("fuzz", options) => fuzz::run(&root(), options),
        ("parquet", options) => parquet(&mut Steps::new(), options),
        ("forms", []) => forms(),
        ("sizes", options) => sizes(options),
        ("python", []) => python::interpreter(&root()).map(|path| println!("{}", path.display())),
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
    let mut steps = Steps::new();
    steps.run("formatting", cargo(["fmt", "--all", "--check"]))?;
    steps
        .run("lints", cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    steps.time("what the library depends on", light)?;
    let tests: &[&str] = if has_nextest() {
        &["nextest", "run", "--workspace", "--no-fail-fast"]
    } else {
        &["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"]
    };
    steps.run("unit and integration tests", cargo(tests))?;
    steps.run("examples in the documentation", cargo(["test", "--workspace", "--doc"]))?;
    let mut documentation = cargo(["doc", "--workspace", "--no-deps", "--lib"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    steps.run("documentation", documentation)?;
    build_program(&mut steps)?;
    let python =
        steps.time("virtual environment of the reference", || python::interpreter(&root()))?;
    parquet(&mut steps, &[])?;
    object_store(&mut steps, &python)?;
    steps.run("golden files, read by the reference", script(&python, "golden_write.py")?)?;
    steps.run("every form, read by the reference", script(&python, "forms.py")?)?;
    for (profile, seeds) in TEST_SEEDS {
        let mut random = script(&python, "random_both.py")?;
        random.args(["--seeds", seeds, "--profile", profile]);
        steps.run(&format!("random tables, {profile}, both ways with the reference"), random)?;
    }
    steps.run("files with zone maps, read by the reference", script(&python, "zone_maps.py")?)?;
    steps.run("row ids of the reference's tables", script(&python, "row_ids.py")?)?;
    steps.run("queries, beside DuckDB and for the reference", script(&python, "sql.py")?)?;
    steps.finish();
    Ok(())
}

/// Fails if the library needs a runtime or a query engine.
fn light() -> Result<()> {
    let mut tree = cargo(["tree", "--package", "lancet", "--edges", "normal", "--prefix", "none"]);
    let listed = tree.output().map_err(|error| format!("cargo tree did not start: {error}"))?;
    if !listed.status.success() {
        return Err(format!("cargo tree ended with {}", listed.status));
    }
    let heavy = ["tokio", "datafusion", "object_store", "futures"];
    let text = String::from_utf8_lossy(&listed.stdout);
    let crates = text.lines().filter_map(|line| line.split_whitespace().next());
    match crates.into_iter().find(|name| heavy.iter().any(|heavy| name.starts_with(heavy))) {
        Some(name) => Err(format!("lancet depends on {name}")),
        None => Ok(()),
    }
}

fn golden() -> Result<()> {
    let mut steps = Steps::new();
    let read = cargo(["test", "--package", "lancet", "--test", "golden", "--", "--nocapture"]);
    steps.run("golden files, read and written again", read)?;
    build_program(&mut steps)?;
    let python = python::interpreter(&root())?;
    steps.run("golden files, read by the reference", script(&python, "golden_write.py")?)?;
    steps.finish();
    Ok(())
}

fn reference(options: &[String]) -> Result<()> {
    let mut steps = Steps::new();
    build_program(&mut steps)?;
    let mut random = script(&python::interpreter(&root())?, "random_both.py")?;
    random.args(options);
    steps.run("random tables, both ways with the reference", random)
}

fn mutants(options: &[String]) -> Result<()> {
    let mut run = cargo(["test", "--release", "--package", "lancet", "--test", "mutants", "--"]);
    run.args(options);
    Steps::new().run("damaged files", run)
}

/// Pages that other writers put into Parquet files, through the examples of `lancet-parquet`.
fn parquet(steps: &mut Steps, options: &[String]) -> Result<()> {
    // As the tests are built, so that nothing is built again.
    let mut build = cargo(["build", "--profile", "test", "--workspace"]);
    build.args(["--example", "decode", "--example", "encode"]);
    steps.run("the examples that decode and encode pages", build)?;
    let mut pages = command(python::interpreter(&root())?);
    pages.arg(root().join("tests/reference/parquet_pages.py"));
    pages.arg("--examples").arg(target()?.join("debug/examples")).args(options);
    steps.run("pages of other Parquet writers", pages)
}

/// A file in a store that speaks S3.
fn object_store(steps: &mut Steps, python: &Path) -> Result<()> {
    let mut build = cargo(["build", "--package", "lancet-object-store", "--features", "aws"]);
    build.args(["--example", "s3"]);
    steps.run("the example for S3", build)?;
    let mut s3 = command(python);
    s3.arg(root().join("tests/reference/s3.py"));
    s3.arg("--example").arg(target()?.join("debug/examples/s3"));
    steps.run("a file in S3", s3)
}

fn forms() -> Result<()> {
    let mut steps = Steps::new();
    build_program(&mut steps)?;
    let forms = script(&python::interpreter(&root())?, "forms.py")?;
    steps.run("every form, read by the reference", forms)
}

fn sizes(options: &[String]) -> Result<()> {
    let mut steps = Steps::new();
    let mut build = cargo(["build", "--release", "--package", "lancet-cli", "--bin", "lancet"]);
    build.args(["--package", "lancet", "--example", "times"]);
    steps.run("the program and the stop watch, optimised", build)?;
    let release = target()?.join("release");
    let suffix = std::env::consts::EXE_SUFFIX;
    let mut sizes = command(python::interpreter(&root())?);
    sizes.arg(root().join("tests/reference/sizes.py"));
    sizes.arg("--lancet").arg(release.join(format!("lancet{suffix}")));
    sizes.arg("--times").arg(release.join(format!("examples/times{suffix}")));
    sizes.args(options);
    steps.run("sizes and times", sizes)
}

fn build_program(steps: &mut Steps) -> Result<()> {
    // The one that the tests drive: by itself it would ask for other features of the dependencies,
    // and build those again.
    steps.run("the program", cargo(["test", "--workspace", "--no-run"]))
}

/// A script of the reference harness, told where the program is.
fn script(python: &Path, name: &str) -> Result<std::process::Command> {
    let mut run = command(python);
    run.arg(root().join("tests/reference").join(name)).arg("--lancet").arg(program()?);
    Ok(run)
}

/// The program as the tests build it.
fn program() -> Result<PathBuf> {
    Ok(target()?.join("debug").join(format!("lancet{}", std::env::consts::EXE_SUFFIX)))
}

/// The folder that everything is built into. This program runs from a folder in it.
fn target() -> Result<PathBuf> {
    let this = std::env::current_exe().map_err(|e| format!("where am I? {e}"))?;
    let target = this.parent().and_then(Path::parent).ok_or("xtask is not in a target folder")?;
    Ok(target.to_path_buf())
}

fn has_nextest() -> bool {
    cargo(["nextest", "--version"]).output().is_ok_and(|done| done.status.success())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}
