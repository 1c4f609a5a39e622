//! What is compared with other implementations: scripts in `tests/reference`, run by the Python that
//! holds the reference.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lints::linting;
use crate::steps::{Result, Steps, cargo, command, run};
use crate::{python, root, target};

/// Seeds of random tables and of random histories of tables.
struct Seeds {
    tables: &'static str,
    histories: &'static str,
}

/// In `test`: enough to meet every type and every operation, few enough to wait for.
const FIRST: Seeds = Seeds { tables: "0..30", histories: "0..40" };

/// In `compare`.
const REST: Seeds = Seeds { tables: "30..100", histories: "40..300" };

/// Adds everything that `test` compares. The programs were built before.
pub(crate) fn add_all(steps: &mut Steps) {
    add_programs(steps);
    steps.add("pages of other Parquet writers", || parquet_pages(&[]));
    steps.add("a file in S3", || {
        let mut s3 = script("s3.py")?;
        s3.arg("--example").arg(example("s3")?);
        run(s3)
    });
    add_script(steps, "golden files, read by the reference", "golden_write.py", &[]);
    add_script(steps, "every form, read by the reference", "forms.py", &[]);
    add_random(steps, &FIRST);
    add_script(steps, "files with zone maps, read by the reference", "zone_maps.py", &[]);
    add_script(steps, "row ids of the reference's tables", "row_ids.py", &[]);
    steps.add("lancet and the reference on one table at the same time", || {
        let mut together = script("together.py")?;
        together.arg("--change").arg(example("change_table")?).args(["--seconds", "15"]);
        run(together)
    });
    add_kills(steps, &["--count", "40"]);
    add_script(steps, "queries, beside DuckDB and for the reference", "sql.py", &[]);
}

/// `cargo xtask compare`: more random tables, histories and faults, over the programs that `test` has built.
pub(crate) fn compare() -> Result<()> {
    let mut steps = Steps::default();
    steps.add("the program", build);
    steps.add("files with every single change", || {
        let mut sweep = linting(["test", "--test", "corruption"])?;
        sweep.env("LANCET_EVERY", "1");
        run(sweep)
    });
    steps.add("writers of one table with faults, against a model", || {
        let name = "several_writers_with_faults_against_a_model";
        let mut model = linting(["test", "--lib", name])?;
        model.env("LANCET_STEPS", "100000").env("LANCET_SEED", "1000");
        run(model)
    });
    add_programs(&mut steps);
    add_random(&mut steps, &REST);
    add_kills(&mut steps, &["--count", "300", "--seed", "1"]);
    steps.run()
}

fn add_kills(steps: &mut Steps, options: &'static [&'static str]) {
    steps.add("a writer that is killed at any moment", move || {
        let mut kills = script("kills.py")?;
        kills.arg("--change").arg(example("change_table")?);
        kills.arg("--maintain").arg(example("maintain_table")?).args(options);
        run(kills)
    });
}

/// What the scripts run in and what they drive.
fn add_programs(steps: &mut Steps) {
    let folder = || python::interpreter(&root()).map(|path| println!("{}", path.display()));
    steps.add("virtual environment of the reference", folder);
    steps.add("the examples that scripts drive, and the extension module of Python", || {
        // As the tests are built, so that nothing is built again: without an example, libraries would be built without
        // the features that tests ask of dependencies, and so with all of those.
        let mut names =
            vec!["--lib", "--example", "decode", "--example", "encode", "--example", "s3"];
        names.extend(["--example", "dump_table", "--example", "change_table"]);
        names.extend(["--example", "maintain_table"]);
        run(linting(["build", "--profile", "test"].into_iter().chain(names))?)
    });
}

fn add_random(steps: &mut Steps, seeds: &Seeds) {
    let history_seeds = seeds.histories;
    for profile in ["flat", "nested", "all"] {
        let name = format!("random tables, {profile}, both ways with the reference");
        add_script(
            steps,
            &name,
            "random_both.py",
            &["--seeds", seeds.tables, "--profile", profile],
        );
    }
    steps.add("random histories of the reference's tables", move || {
        let mut histories = script("histories.py")?;
        histories.arg("--example").arg(example("dump_table")?).args(["--seeds", history_seeds]);
        run(histories)
    });
    steps.add("random histories of tables, lancet and the reference in turn", move || {
        let mut changes = script("changes.py")?;
        changes.arg("--change").arg(example("change_table")?);
        changes.arg("--dump").arg(example("dump_table")?).args(["--seeds", history_seeds]);
        run(changes)
    });
    steps.add("columns, compaction, branches, cleanup, beside the reference", move || {
        let mut maintenance = script("maintenance.py")?;
        maintenance.arg("--change").arg(example("maintain_table")?);
        maintenance.arg("--dump").arg(example("dump_table")?).args(["--seeds", history_seeds]);
        run(maintenance)
    });
}

/// `cargo xtask golden`.
pub(crate) fn golden() -> Result<()> {
    let mut steps = Steps::default();
    let read =
        cargo(["test", "--package", "lancet", "--test", "it", "golden", "--", "--nocapture"]);
    steps.add_command("golden files, read and written again", read);
    steps.add("the program", build);
    add_script(&mut steps, "golden files, read by the reference", "golden_write.py", &[]);
    steps.run()
}

/// One script over the program, with the options of the user.
pub(crate) fn one(name: &'static str, options: &[String]) -> Result<()> {
    build()?;
    let mut script = program_script(name)?;
    script.args(options);
    run(script)
}

/// `cargo xtask parquet`.
pub(crate) fn parquet(options: &[String]) -> Result<()> {
    build()?;
    parquet_pages(options)
}

/// `cargo xtask sizes`.
pub(crate) fn sizes(options: &[String]) -> Result<()> {
    let mut build = cargo(["build", "--release", "--package", "lancet-cli", "--bin", "lancet"]);
    build.args(["--package", "lancet", "--example", "times"]);
    run(build)?;
    let release = target()?.join("release");
    let mut sizes = script("sizes.py")?;
    sizes.arg("--lancet").arg(release.join(executable("lancet")));
    sizes.arg("--times").arg(release.join("examples").join(executable("times")));
    sizes.args(options);
    run(sizes)
}

/// The program and the examples, as the tests build them: by themselves they would ask for other
/// features of the dependencies, and have those built again.
fn build() -> Result<()> {
    run(linting(["test", "--no-run", "--all-targets"])?)
}

/// Pages that other writers put into Parquet files, through the examples of `lancet-parquet`.
fn parquet_pages(options: &[String]) -> Result<()> {
    let mut pages = script("parquet_pages.py")?;
    pages.arg("--examples").arg(target()?.join("debug/examples")).args(options);
    run(pages)
}

fn add_script(steps: &mut Steps, step: &str, name: &'static str, options: &[&'static str]) {
    let options = options.to_vec();
    steps.add(step, move || {
        let mut script = program_script(name)?;
        script.args(options);
        run(script)
    });
}

/// A script that is told where the program is.
fn program_script(name: &str) -> Result<Command> {
    let mut run = script(name)?;
    run.arg("--lancet").arg(target()?.join("debug").join(executable("lancet")));
    Ok(run)
}

fn script(name: &str) -> Result<Command> {
    let mut run = command(python::interpreter(&root())?);
    run.arg(Path::new("tests/reference").join(name));
    Ok(run)
}

fn example(name: &str) -> Result<PathBuf> {
    Ok(target()?.join("debug/examples").join(executable(name)))
}

fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}
