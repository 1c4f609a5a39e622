//! Files in object stores: S3, GCS, Azure, and what HTTP servers have.
//!
//! Everything else in this program blocks, so this does too: a small runtime lives here and nowhere
//! else. Secrets come from the environment, under the names that the tools of the clouds use.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures::StreamExt;
use lancet::{Source, Span};
use lancet_object_store::{FetchOptions, Object};
use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::gcp::GoogleConfigKey;
use object_store::path::Path as ObjectPath;
use object_store::{
    ClientConfigKey, ObjectStore, ObjectStoreExt, ObjectStoreScheme, WriteMultipart,
};
use tokio::runtime::Runtime;
use url::Url;

use super::Access;
use crate::error::{Error, Result};

/// A file up to this size is sent at once, a larger one in parts of at least this size.
const PART_BYTES: u64 = 8 << 20;
/// Stores take at most 10,000 parts.
const MOST_PARTS: u64 = 9_000;
/// Parts that may be under way at a time.
const PARTS_UNDER_WAY: usize = 4;

/// A file in a store.
#[derive(Debug, Clone)]
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    path: ObjectPath,
    url: String,
}

impl Remote {
    /// The file behind a URL. Nothing is asked of the store yet.
    pub fn new(url: &str, access: &Access) -> Result<Self> {
        let refused = |what: String| Error::new(format!("{url}: {what}"));
        let parsed = Url::parse(url).map_err(|e| refused(format!("is no URL: {e}")))?;
        if parsed.query().is_some() || parsed.fragment().is_some() {
            // Stores would leave it out without a word.
            return Err(refused("a URL with `?` or `#` is not supported".into()));
        }
        let (scheme, _) = ObjectStoreScheme::parse(&parsed).map_err(|e| refused(one_line(e)))?;
        let mut options = environment(&scheme);
        for (key, value) in &access.store_options {
            check_key(&scheme, key).map_err(Error::Usage)?;
            options.push((key.to_ascii_lowercase(), value.clone()));
        }
        if parsed.scheme() == "http" {
            // Who writes http:// means it.
            options.push(("allow_http".into(), "true".into()));
        }
        let (store, path) =
            object_store::parse_url_opts(&parsed, options).map_err(|e| refused(one_line(e)))?;
        if path.as_ref().is_empty() {
            return Err(refused("the URL names no file".into()));
        }
        Ok(Self { store: store.into(), path, url: url.into() })
    }

    /// The bytes of the file, fetched when they are needed; if there is another version by then, that is an error.
    pub fn source(&self) -> Result<Arc<dyn Source>, String> {
        let (store, path) = (self.store.clone(), self.path.clone());
        let object = wait(Object::open(store, path, FetchOptions::default()))?.map_err(refused)?;
        Ok(Arc::new(RemoteSource { object, url: self.url.clone() }))
    }

    /// Copies the whole file; returns its size.
    pub fn download(&self, to: &mut File) -> Result<u64, String> {
        wait(async {
            let mut bytes = 0;
            let mut parts = self.store.get(&self.path).await.map_err(told)?.into_stream();
            while let Some(part) = parts.next().await {
                let part = part.map_err(told)?;
                to.write_all(&part).map_err(|e| format!("cannot write a temporary file: {e}"))?;
                bytes += part.len() as u64;
            }
            Ok(bytes)
        })?
    }

    /// Sends a complete file, which replaces what was there; returns its size.
    pub fn upload(&self, from: &Path) -> Result<u64, String> {
        let unreadable = |e: io::Error| format!("cannot read the temporary file: {e}");
        let mut file = File::open(from).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        wait(async {
            if size > PART_BYTES {
                match self.store.put_multipart(&self.path).await {
                    Ok(upload) => return send_parts(upload, &mut file, size).await,
                    // HTTP servers take a file only whole.
                    Err(object_store::Error::NotImplemented { .. }) => {}
                    Err(error) => return Err(told(error)),
                }
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(unreadable)?;
            self.store.put(&self.path, bytes.into()).await.map(drop).map_err(told)
        })??;
        Ok(size)
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> Result<bool, String> {
        match wait(self.store.head(&self.path))? {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(told(error)),
        }
    }
}

/// Sends a file in parts. The store shows it when all have come; after a failure it forgets them.
async fn send_parts(
    upload: Box<dyn object_store::MultipartUpload>,
    file: &mut File,
    size: u64,
) -> Result<(), String> {
    let part = usize::try_from(PART_BYTES.max(size.div_ceil(MOST_PARTS))).unwrap_or(usize::MAX);
    let mut upload = WriteMultipart::new_with_chunk_size(upload, part);
    let mut send = async || -> Result<bool, String> {
        let mut bytes = Vec::with_capacity(part);
        let read = Read::take(Read::by_ref(file), part as u64).read_to_end(&mut bytes);
        read.map_err(|e| format!("cannot read the temporary file: {e}"))?;
        upload.wait_for_capacity(PARTS_UNDER_WAY).await.map_err(told)?;
        let more = !bytes.is_empty();
        upload.put(bytes.into());
        Ok(more)
    };
    let sent = loop {
        match send().await {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = sent {
        let _ = upload.abort().await; // the first failure is the one to tell
        return Err(error);
    }
    // A failure here aborts the upload.
    upload.finish().await.map(drop).map_err(told)
}

/// The bytes of a file in a store.
struct RemoteSource {
    object: Object,
    url: String,
}

impl Source for RemoteSource {
    fn size_bytes(&self) -> u64 {
        self.object.size()
    }

    fn read(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        let fetched = wait(self.object.read(spans)).and_then(|fetched| fetched.map_err(refused));
        fetched.map_err(|message| lancet::Error::Io {
            context: format!("cannot read {}", self.url),
            source: io::Error::other(message),
        })
    }
}

/// Why an object could not be read.
fn refused(error: lancet_object_store::Error) -> String {
    match error {
        lancet_object_store::Error::Store(error) => told(error),
        lancet_object_store::Error::Changed(_) => {
            "it has changed while it was read; try again".into()
        }
        error => error.to_string(),
    }
}

/// Waits for an answer. Threads may wait at the same time.
fn wait<F: Future>(answer: F) -> Result<F::Output, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|e| e.to_string())
    });
    match runtime {
        Ok(runtime) => Ok(runtime.block_on(answer)),
        Err(message) => Err(format!("cannot start the runtime for URLs: {message}")),
    }
}

/// What the environment says about a kind of store.
fn environment(scheme: &ObjectStoreScheme) -> Vec<(String, String)> {
    let prefix = match scheme {
        ObjectStoreScheme::AmazonS3 => "AWS_",
        ObjectStoreScheme::GoogleCloudStorage => "GOOGLE_",
        ObjectStoreScheme::MicrosoftAzure => "AZURE_",
        _ => return Vec::new(),
    };
    let text = |(key, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((key.into_string().ok()?, value.into_string().ok()?))
    };
    let variables = std::env::vars_os().filter_map(text);
    variables
        .filter(|(key, _)| key.starts_with(prefix))
        .map(|(key, value)| (key.to_ascii_lowercase(), value))
        .collect()
}

/// Fails unless the kind of store has such an option: stores skip unknown ones without a word.
fn check_key(scheme: &ObjectStoreScheme, key: &str) -> Result<(), String> {
    let lower = key.to_ascii_lowercase();
    let (known, example) = match scheme {
        ObjectStoreScheme::AmazonS3 => {
            (lower.parse::<AmazonS3ConfigKey>().is_ok(), "aws_region, aws_endpoint, allow_http")
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            (lower.parse::<GoogleConfigKey>().is_ok(), "google_service_account")
        }
        ObjectStoreScheme::MicrosoftAzure => {
            (lower.parse::<AzureConfigKey>().is_ok(), "azure_storage_account_name")
        }
        _ => (lower.parse::<ClientConfigKey>().is_ok(), "timeout, proxy_url"),
    };
    match known {
        true => Ok(()),
        false => {
            Err(format!("--store-option {key}: this store has no such option; some are {example}"))
        }
    }
}

/// What a store said, in one line.
fn told(error: object_store::Error) -> String {
    match error {
        object_store::Error::NotFound { .. } => "no such file".into(),
        object_store::Error::Unauthenticated { .. }
        | object_store::Error::PermissionDenied { .. } => {
            "the store denies it; are the credentials in the environment?".into()
        }
        other => one_line(other),
    }
}

fn one_line(error: impl std::fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(url: &str, options: &[(&str, &str)]) -> String {
        let store_options = options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        match Remote::new(url, &Access { store_options }) {
            Err(Error::Message(message) | Error::Usage(message)) => message,
            _ => panic!("{url} was accepted"),
        }
    }

    #[test]
    fn urls_and_options_are_checked() {
        assert!(message("http://host/a.lance?sig=1", &[]).contains("`?`"));
        assert!(message("http://host/", &[]).contains("names no file"));
        let unknown = message("s3://bucket/a.lance", &[("endpont", "x")]);
        assert!(unknown.starts_with("--store-option endpont: this store has no such"), "{unknown}");
        let options = [("aws_region", "x"), ("aws_endpoint", "http://h"), ("allow_http", "true")];
        let store_options = options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        assert!(Remote::new("s3://bucket/a.lance", &Access { store_options }).is_ok());
    }
}
