//! `lancet row-ids`: the row ids of a table, fragment by fragment, or of one serialized sequence.

mod sequence;
mod table;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, InFile, Result};
use crate::format::check_is_file;
use crate::places::is_endless;
use crate::units;

/// Larger files are no manifests: this one would have millions of fragments.
const MAX_FILE_BYTES: u64 = 1 << 30;

const EXAMPLES: &str = "\
Examples:
  lancet row-ids orders/                                the latest version of a table
  lancet row-ids orders/ --version 3 --fragment 0       one fragment, with its segments
  lancet row-ids orders/ --ids | head                   every id on a line of its own
  lancet row-ids orders/_versions/3.manifest --json | jq '.fragments[].deleted_rows'
  lancet row-ids fragment-0.bin                         a sequence of row ids in a file of its own

A table has row ids of its own if it was written with stable row ids: they stay when rows move.
In other tables the id of a row is its address, fragment × 2^32 + place in the fragment.
Deleted rows keep their place and their id in a fragment, so they are listed too.";

/// Whose row ids to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of a Lance table, a version file of one (_versions/*.manifest), or a file with one serialized sequence of row ids
    path: PathBuf,
    /// Version of the table [default: the latest]
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// Show one fragment only, and how its row ids are stored
    #[arg(long, value_name = "ID")]
    fragment: Option<u32>,
    /// Print JSON
    #[arg(long, conflicts_with = "ids")]
    json: bool,
    /// Print every id on a line of its own
    #[arg(long)]
    ids: bool,
}

/// Runs the command.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let path = args.path.as_path();
    if path.is_dir() {
        return table::show(&table::open(path, args.version)?, args, out);
    }
    check_is_file(path)?;
    if args.version.is_some() {
        let message = "--version chooses a version of a table, but this is a file";
        return Err(Error::new(message).about(path));
    }
    match kind(path)? {
        Kind::Manifest => table::show(&table::parse(path)?, args, out),
        Kind::DataFile => Err(Error::new(
            "is a data file of Lance; the row ids are in its table: give the folder above `data/`",
        )
        .about(path)),
        Kind::Other if args.fragment.is_some() => {
            let message = "--fragment chooses a fragment of a table, but this is another file";
            Err(Error::new(message).about(path))
        }
        Kind::Other => sequence::show(path, args, out),
    }
}

/// What a file is.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Manifest,
    DataFile,
    Other,
}

/// Tells what a file is from its name and its last bytes: version and magic.
fn kind(path: &Path) -> Result<Kind> {
    if path.extension().is_some_and(|ending| ending == "manifest") {
        return Ok(Kind::Manifest);
    }
    let mut file = File::open(path).in_file(path)?;
    let mut tail = [0; 8];
    if file.seek(SeekFrom::End(-8)).is_err() {
        return Ok(Kind::Other); // shorter than that
    }
    file.read_exact(&mut tail).in_file(path)?;
    Ok(match tail {
        [0, 0, 2, 0, b'L', b'A', b'N', b'C'] => Kind::Manifest,
        [.., b'L', b'A', b'N', b'C'] => Kind::DataFile,
        _ => Kind::Other,
    })
}

/// A file that is held in memory.
fn read(path: &Path) -> Result<Vec<u8>> {
    check_is_file(path)?;
    let file = File::open(path).in_file(path)?;
    if is_endless(&file.metadata().in_file(path)?) {
        return Err(Error::new("is a device, not a file of row ids").about(path));
    }
    // A pipe does not say how much will come.
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES.saturating_add(1)).read_to_end(&mut bytes).in_file(path)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let most = units::bytes(MAX_FILE_BYTES);
        let message = format!("has more than {most}, too much for a file of row ids");
        return Err(Error::new(message).about(path));
    }
    Ok(bytes)
}
