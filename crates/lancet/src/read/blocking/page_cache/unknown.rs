//! Systems of whose page cache nothing is known: reads simply wait.

use std::fs::File;

use super::ahead::Device;
use crate::span::Span;

/// The cache through which a file is read.
#[derive(Debug, Default)]
pub(super) struct PageCache;

impl PageCache {
    /// Leaves the buffer to be filled; there is nothing to be announced.
    pub(super) fn read(&self, _: &File, _: &mut Vec<u8>, _: usize, _: u64) -> bool {
        true
    }

    /// Whether a read would wait is not known, so that nothing is read.
    pub(super) fn read_now(&self, _: &File, _: &mut Vec<u8>, _: usize, _: u64) -> bool {
        false
    }

    pub(super) fn has(&self, _: &File, _: &[Span]) -> bool {
        true
    }

    pub(super) fn device(&self, _: &File) -> Device {
        Device::default()
    }
}

pub(super) fn will_need(_: &File, _: Span) {}
