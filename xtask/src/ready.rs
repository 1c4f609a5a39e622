//! Whether the crates could be published as they are.

use std::path::PathBuf;

use crate::steps::{Result, Steps, cargo, command, output, run};
use crate::{needs, target};

/// Features of a crate that stand by themselves. Everything at once is what the tests are built with.
type Sets = &'static [(&'static str, &'static [&'static str])];
const LIGHT: Sets = &[("lancet", &["", "zstd", "lz4", "mmap", "threads"])];
const HEAVY: Sets = &[("lancet-object-store", &["", "http"]), ("lancet-cli", &["", "cloud"])];

/// The library, and what it comes with that needs no other crate of ours.
const LIBRARIES: [&str; 3] = ["lancet", "lancet-parquet", "lancet-row-ids"];

/// `cargo xtask ready`: what takes a minute or two, then the rest.
pub(crate) fn check(quick: bool) -> Result<()> {
    let mut steps = Steps::default();
    light(&mut steps);
    if !quick {
        heavy(&mut steps);
    }
    steps.add("licences, sources and advisories of dependencies", move || licences(quick));
    steps.run()
}

fn light(steps: &mut Steps) {
    steps.add("every crate as it would be published", || {
        let mut publish = cargo(["publish", "--workspace", "--exclude", "xtask", "--dry-run"]);
        // It is published as a wheel.
        publish.args(["--exclude", "lancet-python"]);
        publish.args(["--no-verify", "--allow-dirty"]);
        run(publish)
    });
    steps.add("the oldest compiler that dependencies allow", || {
        let mut versions = command(needs::PYTHON);
        versions.arg("tests/release/rust_version.py");
        run(versions)
    });
    features(steps, LIGHT);
    steps.add("what the library refuses without features", || {
        let bare = ["test", "--package", "lancet", "--no-default-features", "--test", "features"];
        run(cargo(bare))
    });
    steps.add("documentation of the library", || {
        documentation(&LIBRARIES.map(|package| ["--package", package]).concat())
    });
}

fn heavy(steps: &mut Steps) {
    steps.add("the packages of the library, built by themselves", || {
        let mut package = cargo(["package", "--allow-dirty"]);
        package.args(LIBRARIES.map(|package| ["--package", package]).concat());
        run(package)
    });
    features(steps, HEAVY);
    for folder in ["fuzz", "bench"] {
        steps.add(&format!("{folder}/ compiles"), move || {
            let manifest = format!("{folder}/Cargo.toml");
            let mut check = cargo(["check", "--manifest-path", &manifest, "--no-default-features"]);
            check.arg("--target-dir").arg(target()?);
            run(check)
        });
    }
    steps.add("documentation", || documentation(&["--workspace"]));
}

/// Every set of features by itself.
fn features(steps: &mut Steps, of: Sets) {
    for (package, sets) in of {
        for set in *sets {
            let name = if set.is_empty() { "no feature" } else { set };
            steps.add(&format!("{package} with {name}"), move || {
                let mut check = cargo(["check", "--package", package, "--no-default-features"]);
                check.args(["--features", set]).env("RUSTFLAGS", "-Dwarnings");
                run(check)
            });
        }
    }
}

fn documentation(of: &[&str]) -> Result<()> {
    let mut documentation = cargo(["doc", "--no-deps", "--lib"]);
    documentation.args(of).env("RUSTDOCFLAGS", "-Dwarnings");
    run(documentation)
}

/// `cargo deny`, installed beside what is built if it is not there, which takes minutes: a quick check does
/// without it then. Advisories need a database that is fetched from the code host; where that is out of
/// reach, the rest is checked all the same.
fn licences(quick: bool) -> Result<()> {
    let Some(deny) = deny(quick)? else {
        println!("not checked: cargo-deny is not installed");
        return Ok(());
    };
    let check = |what: &[&str]| {
        let mut check = command(&deny);
        check.args(["--all-features", "check", "--hide-inclusion-graph"]).args(what);
        check
    };
    run(check(&["bans", "licenses", "sources"]))?;
    let mut fetch = command(&deny);
    fetch.args(["fetch", "db"]);
    match output(fetch) {
        Ok(_) => run(check(&["advisories"])),
        Err(_) => {
            println!("advisories were not checked: their database cannot be fetched here");
            Ok(())
        }
    }
}

fn deny(installed_only: bool) -> Result<Option<PathBuf>> {
    if output(cargo(["deny", "--version"])).is_ok() {
        return Ok(Some("cargo-deny".into()));
    }
    let tools = target()?.join("tools");
    let deny = tools.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if !deny.exists() && installed_only {
        return Ok(None);
    }
    if !deny.exists() {
        let mut install = cargo(["install", "cargo-deny", "--locked", "--root"]);
        install.arg(&tools).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
        run(install)?;
    }
    Ok(Some(deny))
}
