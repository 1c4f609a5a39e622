//! How files are read, as bytes: what limits a read, and what decides about its result. How many threads work on it is
//! the executor's business, and so is what it keeps between reads.

use lancet::ReadOptions;
use prost::Message;

/// Options of reading.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadMessage {
    #[prost(uint64, tag = "1")]
    memory_limit: u64,
    #[prost(uint64, tag = "2")]
    max_metadata_bytes: u64,
    #[prost(uint64, tag = "3")]
    max_nesting: u64,
    #[prost(bool, tag = "4")]
    verify_checksums: bool,
    #[prost(bool, tag = "5")]
    zone_maps: bool,
    #[prost(bool, tag = "6")]
    require_checksums: bool,
}

impl From<&ReadOptions> for ReadMessage {
    fn from(options: &ReadOptions) -> Self {
        Self {
            memory_limit: options.memory_limit(),
            max_metadata_bytes: options.max_metadata_bytes(),
            max_nesting: options.max_nesting() as u64,
            verify_checksums: options.verify_checksums(),
            zone_maps: options.zone_maps(),
            require_checksums: options.require_checksums(),
        }
    }
}

impl From<ReadMessage> for ReadOptions {
    fn from(message: ReadMessage) -> Self {
        Self::default()
            .with_memory_limit(message.memory_limit)
            .with_max_metadata_bytes(message.max_metadata_bytes)
            .with_max_nesting(usize::try_from(message.max_nesting).unwrap_or(usize::MAX))
            .with_verify_checksums(message.verify_checksums)
            .with_zone_maps(message.zone_maps)
            .with_require_checksums(message.require_checksums)
    }
}
