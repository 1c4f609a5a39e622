//! Where files are: on disk, behind a URL, on standard input or standard output.

#[cfg(feature = "cloud")]
mod cloud;
mod file;
mod format;
mod leftovers;
mod patterns;
mod remote;
mod table;
mod target;
mod temporary;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

pub use file::{InputFile, is_endless};
pub use format::FormatName;
pub use patterns::expand;
pub use remote::Remote;
pub use table::{
    BranchArgs, InTable, InputTable, TableArgs, VersionArgs, open_table, refuse_file, table_folder,
};
pub use target::{Bytes, Closed, Target};
pub use temporary::Temporary;

/// How places are reached.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Access {
    /// Option of the store behind a URL, as in aws_endpoint=http://127.0.0.1:9000; repeatable
    #[arg(long = "store-option", value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub store_options: Vec<(String, String)>,
}

impl Access {
    /// Fails if there are options for stores, but no store.
    pub fn check<'a>(&self, mut paths: impl Iterator<Item = &'a Path>) -> Result<()> {
        let is_url = |path: &Path| matches!(Place::of(path), Ok(Place::Url(_)));
        if self.store_options.is_empty() || paths.any(is_url) {
            return Ok(());
        }
        Err(Error::Usage("--store-option is for URLs such as s3://, and there is none".into()))
    }
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On disk.
    Disk(PathBuf),
    /// Standard input or standard output.
    Standard,
    /// In a store.
    Url(String),
}

/// The kinds of URL that stores have.
const STORES: [&str; 10] =
    ["s3", "s3a", "gs", "az", "abfs", "abfss", "adl", "azure", "http", "https"];

impl Place {
    /// The place that an argument names.
    pub fn of(path: &Path) -> Result<Self> {
        let Some(text) = path.to_str() else { return Ok(Self::Disk(path.into())) };
        if text == "-" {
            return Ok(Self::Standard);
        }
        let Some((scheme, rest)) = text.split_once("://").filter(|(s, _)| is_scheme(s)) else {
            return Ok(Self::Disk(path.into()));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => file_path(rest).map(Self::Disk).map_err(|e| Error::new(e).about(path)),
            scheme if STORES.contains(&scheme) => Ok(Self::Url(text.into())),
            _ => Err(Error::new(format!(
                "{text}: unknown kind of URL; lancet knows file://, http://, https://, s3://, \
                 gs:// and az://"
            ))),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    // One letter is a drive.
    text.len() > 1 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// The path in a `file://` URL.
fn file_path(rest: &str) -> Result<PathBuf, String> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err("the path of a file:// URL begins with a slash: file:///folder/a.lance".into());
    }
    let path = percent_decoded(path).ok_or("the URL has a % that is no character's code")?;
    // On Windows: file:///C:/folder/a.lance.
    let drive = path.get(2..3).is_some_and(|c| c == ":");
    Ok(PathBuf::from(if drive { path.get(1..).unwrap_or_default() } else { &path }))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let code = digit()? * 16 + digit()?;
        decoded.push(u8::try_from(code).ok()?);
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Place {
        Place::of(Path::new(text)).unwrap()
    }

    #[test]
    fn arguments_name_places() {
        assert_eq!(place("a.lance"), Place::Disk("a.lance".into()));
        assert_eq!(place("./-"), Place::Disk("./-".into()));
        assert_eq!(place("-"), Place::Standard);
        assert_eq!(place("s3://b/a.lance"), Place::Url("s3://b/a.lance".into()));
        assert_eq!(place("HTTPS://h/a.lance"), Place::Url("HTTPS://h/a.lance".into()));
        assert_eq!(place("a b://c"), Place::Disk("a b://c".into()));
        assert!(Place::of(Path::new("ftp://h/a.lance")).is_err());
    }

    #[test]
    fn file_urls_are_paths() {
        assert_eq!(place("file:///a/b%20c.csv"), Place::Disk("/a/b c.csv".into()));
        assert_eq!(place("file://localhost/a.csv"), Place::Disk("/a.csv".into()));
        assert_eq!(place("file:///C:/a.csv"), Place::Disk("C:/a.csv".into()));
        for bad in ["file://a.csv", "file:///a%2.csv", "file:///%ff"] {
            assert!(Place::of(Path::new(bad)).is_err(), "{bad} was accepted");
        }
    }

    #[test]
    fn options_of_stores_need_a_store() {
        let access = Access { store_options: vec![key_and_value("a=b=c").unwrap()] };
        assert_eq!(access.store_options, [("a".to_owned(), "b=c".to_owned())]);
        assert!(access.check([Path::new("gs://b/a.lance")].into_iter()).is_ok());
        assert!(access.check([Path::new("a.lance")].into_iter()).is_err());
        assert!(Access::default().check([Path::new("a.lance")].into_iter()).is_ok());
        assert!(key_and_value("a").is_err());
    }
}
