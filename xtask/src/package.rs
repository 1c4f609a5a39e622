//! The Python package: put together from what the build has made, and tested.
//!
//! The extension module comes out of the one build that all tests share; a wheel would have everything built again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{Result, Steps, cargo, command, run};
use crate::{python, root, target};

/// `cargo xtask python`: builds it and tests it, by itself.
pub(crate) fn check(options: &[String]) -> Result<()> {
    let mut steps = Steps::default();
    steps.add_command("the extension module", cargo(["build", "--package", "lancet-python"]));
    add_tests(&mut steps, options);
    steps.run()
}

/// Adds the tests, for which the extension module was built before; options are those of pytest.
pub(crate) fn add_tests(steps: &mut Steps, options: &[String]) {
    let options = options.to_vec();
    steps.add("the Python package", || assemble().map(drop));
    steps.add("the Python package: tests", move || {
        let mut pytest = interpreter()?;
        pytest.args(["-m", "pytest", "--quiet", "-m", "not extra", "tests/python"]).args(&options);
        run(pytest)
    });
    steps.add("the Python package: stubs against the extension module", || {
        let mut stubtest = interpreter()?;
        stubtest.args(["-m", "mypy.stubtest", "lancet._lancet"]);
        run(stubtest)
    });
    steps.add("the Python package: types and examples", || {
        let mut mypy = interpreter()?;
        mypy.args(["-m", "mypy", "--strict", "--ignore-missing-imports", "-p", "lancet"]);
        run(mypy)?;
        let mut mypy = interpreter()?;
        mypy.args(["-m", "mypy", "--strict", "--ignore-missing-imports"]);
        mypy.arg("crates/lancet-python/examples");
        run(mypy)?;
        let mut example = interpreter()?;
        example.arg("crates/lancet-python/examples/quick.py");
        run(example)
    });
}

/// The folder that holds the package.
fn folder() -> Result<PathBuf> {
    Ok(target()?.join("python"))
}

/// The interpreter of the tests, which finds the package.
fn interpreter() -> Result<Command> {
    let mut python = command(python::interpreter(&root())?);
    python.env("PYTHONPATH", folder()?).env("MYPYPATH", folder()?);
    // What is imported from the clone leaves nothing there.
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(python)
}

/// Puts the sources and the extension module into one folder.
fn assemble() -> Result<PathBuf> {
    let folder = folder()?;
    let package = folder.join("lancet");
    let failed = |error: std::io::Error| format!("{}: {error}", package.display());
    if package.exists() {
        fs::remove_dir_all(&package).map_err(failed)?;
    }
    copy(&root().join("python/lancet"), &package).map_err(failed)?;
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let built = target()?.join("debug").join(format!("{prefix}_lancet{suffix}"));
    let name = if cfg!(windows) { "_lancet.pyd" } else { "_lancet.abi3.so" };
    fs::copy(&built, package.join(name)).map_err(|e| format!("{}: {e}", built.display()))?;
    println!("{}", package.display());
    Ok(folder)
}

/// Copies the sources of a folder.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_source = name.to_str().is_some_and(|name| {
            [".py", ".pyi", "py.typed"].iter().any(|ending| name.ends_with(ending))
        });
        if is_source {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}
