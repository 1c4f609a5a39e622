//! Which columns of which data files hold the fields that are wanted of a fragment.
//!
//! The manifest decides, not the files: a field is where its id is listed, whatever the file calls it. A field that no
//! file of the fragment lists is null in all its rows. Fields of one struct may lie in several files.

use std::collections::HashMap;

use crate::fragment::Fragment;
use crate::schema::{Kind, Node};

/// With more comparisons than this, ids are looked up in a table.
const MANY: usize = 4096;

/// How the fields are read in a fragment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FragmentPlan {
    pub(crate) files: Vec<FileColumns>,
    /// What each field is made of.
    pub(crate) parts: Vec<Part>,
}

/// Columns to be read from one data file, in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileColumns {
    /// The data file, by its place in the fragment.
    pub(crate) file: usize,
    pub(crate) columns: Vec<u32>,
}

/// What a field is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// No file has it.
    Missing,
    /// A column of the file at this place of the plan.
    Leaf(usize),
    /// Fields below it, some of which these files of the plan have.
    Group { inputs: Vec<usize>, children: Vec<Part> },
}

impl FragmentPlan {
    pub(crate) fn new(fragment: &Fragment, nodes: &[Node]) -> Self {
        let mut plan = Self { files: Vec::new(), parts: Vec::with_capacity(nodes.len()) };
        let places = Places::new(fragment, nodes.len());
        for node in nodes {
            let part = plan.part(node, &places);
            plan.parts.push(part);
        }
        plan
    }

    fn part(&mut self, node: &Node, places: &Places<'_>) -> Part {
        let is_split = node.kind == Kind::PackedStruct
            && node.children.iter().any(|child| places.find(child.id).is_some());
        if node.is_leaf() && !is_split {
            return match places.find(node.id) {
                Some((file, column)) => Part::Leaf(self.add(file, column)),
                None => Part::Missing,
            };
        }
        let children: Vec<Part> =
            node.children.iter().map(|child| self.part(child, places)).collect();
        let mut inputs: Vec<usize> = Vec::new();
        for child in &children {
            let below: &[usize] = match child {
                Part::Missing => &[],
                Part::Leaf(input) => std::slice::from_ref(input),
                Part::Group { inputs, .. } => inputs,
            };
            inputs.extend(below);
        }
        inputs.sort_unstable();
        inputs.dedup();
        if inputs.is_empty() { Part::Missing } else { Part::Group { inputs, children } }
    }

    /// Adds a column of a file; the place of the file in the plan.
    fn add(&mut self, file: usize, column: u32) -> usize {
        if let Some(place) = self.files.iter().position(|known| known.file == file) {
            if let Some(known) = self.files.get_mut(place) {
                known.columns.push(column);
            }
            return place;
        }
        self.files.push(FileColumns { file, columns: vec![column] });
        self.files.len().saturating_sub(1)
    }
}

/// The data file and the column of a field; none if no file of the fragment has it.
pub(crate) fn column_of(fragment: &Fragment, field: i32) -> Option<(usize, u32)> {
    Places::Few(fragment).find(field)
}

/// Where fields are, in the data files of a fragment.
enum Places<'a> {
    Few(&'a Fragment),
    Many(HashMap<i32, (usize, u32)>),
}

impl<'a> Places<'a> {
    fn new(fragment: &'a Fragment, num_nodes: usize) -> Self {
        let listed: usize = fragment.files.iter().map(|file| file.fields.len()).sum();
        if listed.saturating_mul(num_nodes) <= MANY {
            return Self::Few(fragment);
        }
        let all = fragment.files.iter().enumerate().flat_map(|(place, file)| {
            let columns = file.fields.iter().zip(file.columns.iter());
            columns.filter_map(move |(field, column)| {
                Some((*field, (place, u32::try_from(*column).ok()?)))
            })
        });
        Self::Many(all.collect())
    }

    fn find(&self, field: i32) -> Option<(usize, u32)> {
        match self {
            Self::Few(fragment) => fragment
                .files
                .iter()
                .enumerate()
                .find_map(|(place, file)| Some((place, file.column_of(field)?))),
            Self::Many(known) => known.get(&field).copied(),
        }
    }
}
