//! The fields that expressions read.
//!
//! A column is read as a whole unless all that is asked of it is fields of a struct: then the others
//! are left out, and the struct that is read has only those.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_schema::{DataType, Fields as ArrowFields, Schema};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::functions::core::getfield::GetFieldFunc;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

/// Fields by the number of their column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(BTreeMap<usize, Part>);

/// What is read of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Whole,
    /// Names with dots, from the column down.
    Paths(BTreeSet<String>),
}

impl Fields {
    /// The fields that the expressions read.
    pub(crate) fn of<'a>(
        expressions: impl IntoIterator<Item = &'a Arc<dyn PhysicalExpr>>,
        schema: &Schema,
    ) -> Result<Self> {
        let mut fields = Self::default();
        for expression in expressions {
            expression.apply(|node| Ok(fields.visit(node, schema)))?;
        }
        Ok(fields)
    }

    fn visit(&mut self, node: &Arc<dyn PhysicalExpr>, schema: &Schema) -> TreeNodeRecursion {
        if let Some((column, path)) = struct_path(node)
            && let Some(name) = dotted(column, &path, schema)
        {
            let part = self.0.entry(column).or_insert_with(|| Part::Paths(BTreeSet::new()));
            if let Part::Paths(paths) = part {
                paths.insert(name);
            }
            return TreeNodeRecursion::Jump;
        }
        if let Some(column) = node.downcast_ref::<Column>() {
            self.0.insert(column.index(), Part::Whole);
        }
        TreeNodeRecursion::Continue
    }

    /// Their names, in the order of the file.
    pub(crate) fn names(&self, schema: &Schema) -> Vec<String> {
        let mut names = Vec::new();
        for (column, part) in &self.0 {
            match part {
                Part::Whole => names.extend(schema.fields().get(*column).map(|f| f.name().clone())),
                Part::Paths(paths) => names.extend(paths.iter().cloned()),
            }
        }
        names
    }

    /// Numbers of the columns, sorted.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }

    /// What these read beyond columns of which `known` has enough.
    pub(crate) fn beyond(&self, known: &Self) -> Self {
        let missing = |(column, part): (&usize, &Part)| match (part, known.0.get(column)) {
            (_, Some(Part::Whole)) => None,
            (Part::Paths(wanted), Some(Part::Paths(has))) if wanted.is_subset(has) => None,
            _ => Some((*column, part.clone())),
        };
        Self(self.0.iter().filter_map(missing).collect())
    }
}

/// The name of the nested field that an expression is, with dots.
pub(crate) fn field_name(node: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<String> {
    let (column, path) = struct_path(node)?;
    dotted(column, &path, schema)
}

/// The column and the names below it, if that is all the expression asks for.
fn struct_path(node: &Arc<dyn PhysicalExpr>) -> Option<(usize, Vec<String>)> {
    let function = ScalarFunctionExpr::try_downcast_func::<GetFieldFunc>(node.as_ref())?;
    let (from, names) = function.args().split_first()?;
    let (column, mut path) = match from.downcast_ref::<Column>() {
        Some(column) => (column.index(), Vec::new()),
        None => struct_path(from)?,
    };
    for name in names {
        let literal = name.downcast_ref::<Literal>()?;
        path.push(literal.value().try_as_str()??.to_owned());
    }
    Some((column, path))
}

/// The path as one name, if it leads through structs and cannot be taken for another.
fn dotted(column: usize, path: &[String], schema: &Schema) -> Option<String> {
    let root = schema.fields().get(column)?;
    let mut name = root.name().clone();
    let mut data_type = root.data_type();
    for step in path {
        let DataType::Struct(children) = data_type else { return None };
        // A name with a dot may be that of a sibling, as in `x.y` beside `x`.
        if children.iter().any(|child| child.name().contains('.')) {
            return None;
        }
        data_type = child(children, step)?;
        name.push('.');
        name.push_str(step);
    }
    let plain = schema.fields().iter().all(|field| !field.name().contains('.'));
    (plain && !path.is_empty()).then_some(name)
}

fn child<'a>(children: &'a ArrowFields, name: &str) -> Option<&'a DataType> {
    children.iter().find(|child| child.name() == name).map(|child| child.data_type())
}
