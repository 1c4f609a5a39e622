//! The pages of a column in the order of its rows, at most so many: where there are more, neighbours stand together, and so do
//! their buffers, by what they hold.

use lancet::PageReport;

use super::facts::{PageGroup, Pages, cut};
use super::file::MOST_FORM;

/// Pages that are collected one by one. Memory stays bounded, however many there are.
pub struct PageList {
    most: usize,
    /// Pages of a group.
    stride: u64,
    found: Pages,
}

impl PageList {
    /// Without pages; `most` groups will be left.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), stride: 1, found: Pages::default() }
    }

    /// Adds the next page; of a table, with the fragment it is in.
    pub fn push(&mut self, page: &PageReport, fragment: Option<u32>) {
        self.found.count = self.found.count.saturating_add(1);
        let next = group(page, fragment);
        match self.found.groups.last_mut() {
            Some(last) if last.pages < self.stride => join(last, next),
            _ => self.found.groups.push(next),
        }
        if self.found.groups.len() > self.most.saturating_mul(2) {
            self.stride = self.stride.saturating_mul(2);
            self.put_together(2);
        }
    }

    /// All of them.
    pub fn finish(mut self) -> Pages {
        let size = self.found.groups.len().div_ceil(self.most).max(1);
        self.put_together(size);
        self.found
    }

    /// Makes one group of every `size` neighbours.
    fn put_together(&mut self, size: usize) {
        if size < 2 {
            return;
        }
        let mut kept: Vec<PageGroup> = Vec::with_capacity(self.found.groups.len().div_ceil(size));
        for (place, next) in std::mem::take(&mut self.found.groups).into_iter().enumerate() {
            match kept.last_mut().filter(|_| !place.is_multiple_of(size)) {
                Some(last) => join(last, next),
                None => kept.push(next),
            }
        }
        self.found.groups = kept;
    }
}

fn group(page: &PageReport, fragment: Option<u32>) -> PageGroup {
    let buffers = page.buffers.iter();
    PageGroup {
        pages: 1,
        rows: page.num_rows,
        bytes: page.bytes,
        start: buffers.clone().map(|buffer| buffer.position).min().unwrap_or(0),
        form: cut(&page.form(), MOST_FORM),
        fragment,
        buffers: buffers.map(|b| (b.holds.clone(), b.position, b.bytes)).collect(),
    }
}

/// Adds neighbours. The first says how they are encoded.
fn join(group: &mut PageGroup, next: PageGroup) {
    group.pages = group.pages.saturating_add(next.pages);
    group.rows = group.rows.saturating_add(next.rows);
    group.bytes = group.bytes.saturating_add(next.bytes);
    group.start = group.start.min(next.start);
    group.fragment = group.fragment.filter(|fragment| Some(*fragment) == next.fragment);
    for (holds, start, bytes) in next.buffers {
        match group.buffers.iter_mut().find(|(known, ..)| *known == holds) {
            Some((_, first, sum)) => {
                *first = start.min(*first);
                *sum = sum.saturating_add(bytes);
            }
            None => group.buffers.push((holds, start, bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use lancet::{FileReader, FileWriter, WriteOptions};

    use super::*;

    fn page() -> PageReport {
        let column = std::sync::Arc::new(arrow_array::Int64Array::from(vec![1, 5, 2]));
        let batch = arrow_array::RecordBatch::try_from_iter([("a", column as _)]).unwrap();
        let mut writer =
            FileWriter::new(Vec::new(), batch.schema(), WriteOptions::default()).unwrap();
        writer.write(&batch).unwrap();
        let (_, bytes) = writer.finish_into().unwrap();
        let reader = FileReader::from_bytes(bytes, lancet::ReadOptions::default()).unwrap();
        reader.inspect().unwrap().columns[0].pages[0].clone()
    }

    #[test]
    fn groups_are_bounded_and_have_all_pages() {
        let page = page();
        for (most, pages) in [(1, 1), (1, 50), (3, 3), (4, 1_000), (400, 500), (5, 0)] {
            let mut list = PageList::new(most);
            (0..pages).for_each(|number| list.push(&page, Some(number / 10)));
            let found = list.finish();
            let groups = &found.groups;
            assert_eq!(found.count, u64::from(pages));
            assert!(groups.len() <= most, "{} groups of {pages}", groups.len());
            assert_eq!(groups.iter().map(|g| g.pages).sum::<u64>(), u64::from(pages));
            assert_eq!(groups.iter().map(|g| g.rows).sum::<u64>(), 3 * u64::from(pages));
            // Buffers are told of groups, too.
            let in_buffers = |group: &PageGroup| group.buffers.iter().map(|b| b.2).sum::<u64>();
            assert!(groups.iter().all(|group| in_buffers(group) == group.bytes));
        }
    }
}
