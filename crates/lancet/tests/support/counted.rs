//! A source that remembers what was read from it.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use lancet::{FileReader, ReadOptions, Source, Span};

/// The spans of one call.
pub type Round = Vec<Span>;

/// A file in memory that remembers the spans asked for.
#[derive(Clone)]
pub struct Counted {
    bytes: Bytes,
    rounds: Arc<Mutex<Vec<Round>>>,
    /// How many spans were asked for together in each round.
    depths: Arc<Mutex<Vec<usize>>>,
}

impl Counted {
    /// Nothing has been read yet.
    pub fn new(file: Vec<u8>) -> Self {
        Self { bytes: file.into(), rounds: Arc::default(), depths: Arc::default() }
    }

    /// A reader of this file.
    pub fn open(&self) -> FileReader {
        FileReader::from_source(Arc::new(self.clone()), ReadOptions::default()).unwrap()
    }

    /// What was read since the last time.
    pub fn rounds(&self) -> Vec<Round> {
        std::mem::take(&mut self.rounds.lock().unwrap())
    }

    /// How many spans each round has asked for together since the last time.
    #[allow(dead_code, reason = "each test uses a part")]
    pub fn depths(&self) -> Vec<usize> {
        std::mem::take(&mut self.depths.lock().unwrap())
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Source for Counted {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        self.rounds.lock().unwrap().push(spans.to_vec());
        self.bytes.read(spans)
    }

    fn read_scattered(&self, spans: &[Span]) -> lancet::Result<Vec<Bytes>> {
        self.depths.lock().unwrap().push(spans.len());
        self.read(spans)
    }
}
