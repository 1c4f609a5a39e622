//! The names of columns, for messages about them.

use std::collections::{BTreeMap, BTreeSet};

use super::file::OpenFile;
use crate::error::{Corrupt, Result};
use crate::page_v2_0;
use crate::schema::columns::Node;

/// Most characters of a name: many columns may share long names of the fields around them.
const NAME_CHARS: usize = 200;

impl OpenFile {
    /// Names the column of a corruption. Nothing is looked up unless there is one.
    pub(super) fn named<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|mut error| {
            if let Some(column) = error.unnamed_column() {
                error.name_column(self.column_names(&[column].into()).remove(&column));
            }
            error
        })
    }

    /// Names the columns of all problems.
    pub(super) fn name_problems(&self, problems: &mut [Corrupt]) {
        let names =
            self.column_names(&problems.iter().filter_map(|p| p.unnamed_column()).collect());
        for problem in problems {
            if let Some(column) = problem.unnamed_column() {
                problem.column_name = names.get(&column).cloned();
            }
        }
    }
}

/// The names of the columns that are wanted, as far as the fields have them; `arrays` are the columns of a 2.0
/// file.
pub(super) fn column_names(
    nodes: &[Node],
    arrays: Option<&page_v2_0::Columns>,
    wanted: &BTreeSet<u32>,
) -> BTreeMap<u32, String> {
    let mut names = Names { arrays, wanted, found: BTreeMap::new() };
    if !wanted.is_empty() {
        nodes.iter().for_each(|node| names.visit(node, &mut Vec::new()));
    }
    names.found
}

struct Names<'a> {
    arrays: Option<&'a page_v2_0::Columns>,
    wanted: &'a BTreeSet<u32>,
    found: BTreeMap<u32, String>,
}

impl Names<'_> {
    /// Looks at the columns of a node; `path` holds the names of the fields around it.
    fn visit<'a>(&mut self, node: &'a Node, path: &mut Vec<&'a str>) {
        path.push(node.field().name());
        let depth = path.len().saturating_sub(1);
        match (self.arrays, node) {
            (Some(arrays), _) => {
                let own = arrays.own(node, depth).into_iter().flatten();
                own.for_each(|column| self.note(column, path));
            }
            (None, Node::Leaf(leaf)) => self.note(leaf.column, path),
            (None, _) => {}
        }
        node.children().iter().for_each(|child| self.visit(child, path));
        path.pop();
    }

    fn note(&mut self, column: u32, path: &[&str]) {
        if self.wanted.contains(&column) {
            let parts = path.iter().enumerate();
            let dotted = parts.flat_map(|(i, part)| {
                let dot = (i > 0).then_some('.');
                dot.into_iter().chain(part.chars())
            });
            self.found.insert(column, dotted.take(NAME_CHARS).collect());
        }
    }
}
