//! Changes of the schema of a table. Pure: the fields of a version in, those of the next one out.
//!
//! A field is its id: a rename keeps it, another type gets a new one, and the id of a dropped field is not given to
//! another. Data files are not touched by a change of the schema alone; they list ids.

use std::collections::{HashMap, HashSet};

use crate::columns::{find, is_row_column, unknown};
use crate::error::{Error, Result};
use crate::fields::Field;
use crate::schema::{Kind, Node};

/// The fields of one version, flattened and as a tree.
#[derive(Clone, Copy)]
pub(crate) struct SchemaBefore<'a> {
    pub(crate) fields: &'a [Field],
    pub(crate) nodes: &'a [Node],
}

/// Refuses a name that no new column may have.
fn check_name(name: &str) -> Result<()> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.contains('.') {
        "dots stand between the names of nested fields"
    } else if is_row_column(name) {
        "every table has a column of this name of itself"
    } else {
        return Ok(());
    };
    Err(Error::invalid(format!("`{}` cannot be the name of a column: {why}", name.escape_debug())))
}

impl<'a> SchemaBefore<'a> {
    /// The field with a name, and what it lies in: none at the top.
    fn named(&self, name: &str) -> Result<(&'a Node, Option<&'a Node>)> {
        let path = find(self.nodes, name).ok_or_else(|| unknown(self.nodes, name))?;
        let (mut level, mut found, mut parent) = (self.nodes, None, None);
        for place in path {
            parent = found;
            found = level.get(place);
            level = found.map_or(&[], |node: &Node| &node.children);
        }
        Ok((found.ok_or_else(|| unknown(self.nodes, name))?, parent))
    }

    /// The same, for what only fields at the top and in structs can have.
    fn in_struct(&self, name: &str, what: &str) -> Result<(&'a Node, Option<&'a Node>)> {
        let (node, parent) = self.named(name)?;
        if let Some(parent) = parent.filter(|parent| parent.kind != Kind::Struct) {
            let parent = parent.field.name();
            return Err(Error::invalid(format!(
                "field `{name}` cannot be {what}: it is a part of how `{parent}` is stored"
            )));
        }
        Ok((node, parent))
    }

    /// For each field, the field at the top that it belongs to. Parents stand before children.
    fn roots(&self) -> HashMap<i32, i32> {
        let mut roots = HashMap::with_capacity(self.fields.len());
        for field in self.fields {
            let root = field.parent.and_then(|parent| roots.get(&parent).copied());
            roots.insert(field.id, root.unwrap_or(field.id));
        }
        roots
    }

    /// The fields without some of them and all that lies below.
    pub(crate) fn without(&self, names: &[impl AsRef<str>]) -> Result<Vec<Field>> {
        let mut gone: HashSet<i32> = HashSet::new();
        for name in names {
            let (node, _) = self.in_struct(name.as_ref(), "dropped")?;
            gone.insert(node.id);
        }
        let mut kept: Vec<Field> = Vec::with_capacity(self.fields.len());
        for field in self.fields {
            if field.parent.is_some_and(|parent| gone.contains(&parent)) {
                gone.insert(field.id);
            }
            if !gone.contains(&field.id) {
                kept.push(field.clone());
            }
        }
        if kept.is_empty() {
            return Err(Error::invalid("a table needs at least one column; these are all it has"));
        }
        // A struct that loses its last field would be another type.
        let parents = |fields: &[Field]| -> HashSet<i32> {
            fields.iter().filter_map(|field| field.parent).collect()
        };
        let (before, after) = (parents(self.fields), parents(&kept));
        let is_emptied = |field: &&Field| before.contains(&field.id) && !after.contains(&field.id);
        if let Some(field) = kept.iter().find(is_emptied) {
            let name = &field.name;
            return Err(Error::invalid(format!(
                "`{name}` would have no fields left; drop `{name}` itself"
            )));
        }
        Ok(kept)
    }

    /// The fields with one under another name.
    pub(crate) fn renamed(&self, name: &str, to: &str) -> Result<Vec<Field>> {
        let (node, parent) = self.in_struct(name, "renamed")?;
        check_name(to)?;
        let beside = parent.map_or(self.nodes, |parent| &parent.children);
        if beside.iter().any(|other| other.id != node.id && other.field.name() == to) {
            return Err(Error::invalid(format!("there is a field `{to}` already")));
        }
        self.changed(node.id, |field| to.clone_into(&mut field.name))
    }

    /// The fields with one that may be null, or may not.
    pub(crate) fn with_nullable(&self, name: &str, nullable: bool) -> Result<Vec<Field>> {
        let (node, _) = self.in_struct(name, "made nullable or not")?;
        self.changed(node.id, |field| field.nullable = nullable)
    }

    fn changed(&self, id: i32, change: impl Fn(&mut Field)) -> Result<Vec<Field>> {
        let mut fields = self.fields.to_vec();
        fields.iter_mut().filter(|field| field.id == id).for_each(change);
        Ok(fields)
    }

    /// The fields with the columns in another order. Those that are not named follow in the order they have.
    pub(crate) fn reordered(&self, names: &[impl AsRef<str>]) -> Result<Vec<Field>> {
        let mut order: Vec<i32> = Vec::with_capacity(self.nodes.len());
        for name in names {
            let name = name.as_ref();
            let node = self.nodes.iter().find(|node| node.field.name() == name);
            let id = node.ok_or_else(|| unknown(self.nodes, name))?.id;
            if order.contains(&id) {
                return Err(Error::invalid(format!("column `{name}` is named twice")));
            }
            order.push(id);
        }
        let named: HashSet<i32> = order.iter().copied().collect();
        order.extend(self.nodes.iter().map(|node| node.id).filter(|id| !named.contains(id)));
        let places: HashMap<i32, usize> = order.into_iter().zip(0..).collect();
        let roots = self.roots();
        let mut fields = self.fields.to_vec();
        // The sort is stable: the fields of a column stay together and in order.
        fields.sort_by_key(|field| roots.get(&field.id).and_then(|root| places.get(root)));
        Ok(fields)
    }

    /// The fields with new columns behind them, each with what is below it and with new ids.
    pub(crate) fn with_added(&self, added: Vec<Field>) -> Result<Vec<Field>> {
        let mut names: HashSet<&str> =
            self.nodes.iter().map(|node| node.field.name().as_str()).collect();
        for field in added.iter().filter(|field| field.parent.is_none()) {
            check_name(&field.name)?;
            if !names.insert(&field.name) {
                let name = &field.name;
                return Err(Error::invalid(format!("there is a column `{name}` already")));
            }
        }
        Ok([self.fields, &added].concat())
    }

    /// The fields with another in the place of a column: of another type, and with new ids.
    pub(crate) fn replaced(&self, name: &str, by: &[Field]) -> Result<Vec<Field>> {
        let node = self.column(name)?;
        let roots = self.roots();
        let mut fields = Vec::with_capacity(self.fields.len().saturating_add(by.len()));
        for field in self.fields {
            if field.id == node.id {
                fields.extend_from_slice(by);
            } else if roots.get(&field.id) != Some(&node.id) {
                fields.push(field.clone());
            }
        }
        Ok(fields)
    }

    /// A column at the top.
    pub(crate) fn column(&self, name: &str) -> Result<&'a Node> {
        match self.named(name)? {
            (node, None) => Ok(node),
            (_, Some(_)) => Err(Error::invalid(format!(
                "`{name}` lies inside another column; this is only done for whole columns"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::schema::TableSchema;
    use crate::unknown::UnknownFields;

    fn field(id: i32, parent: Option<i32>, name: &str, logical_type: &str) -> Field {
        Field {
            id,
            parent,
            name: name.into(),
            logical_type: logical_type.into(),
            nullable: true,
            extension_name: String::new(),
            metadata: BTreeMap::new(),
            unknown: UnknownFields::default(),
        }
    }

    /// a; s {x, y}; l [item {z}]; p
    fn fields() -> Vec<Field> {
        vec![
            field(0, None, "a", "int64"),
            field(1, None, "s", "struct"),
            field(2, Some(1), "x", "int32"),
            field(3, Some(1), "y", "string"),
            field(4, None, "l", "list.struct"),
            field(5, Some(4), "item", "struct"),
            field(6, Some(5), "z", "int32"),
            field(9, None, "p", "double"),
        ]
    }

    fn change(change: impl Fn(SchemaBefore<'_>) -> Result<Vec<Field>>) -> Result<Vec<Field>> {
        let fields = fields();
        let schema = TableSchema::of_fields(&fields, &BTreeMap::new()).unwrap();
        let after = change(SchemaBefore { fields: &fields, nodes: &schema.nodes })?;
        // What comes out is a schema again.
        TableSchema::of_fields(&after, &BTreeMap::new()).unwrap();
        Ok(after)
    }

    fn ids(found: Result<Vec<Field>>) -> Vec<i32> {
        found.unwrap().iter().map(|field| field.id).collect()
    }

    fn refused(found: Result<Vec<Field>>) -> String {
        found.unwrap_err().to_string()
    }

    #[test]
    fn columns_are_dropped_with_all_below() {
        assert_eq!(ids(change(|before| before.without(&["s"]))), [0, 4, 5, 6, 9]);
        assert_eq!(ids(change(|before| before.without(&["s.x", "p"]))), [0, 1, 3, 4, 5, 6]);
        assert_eq!(ids(change(|before| before.without(&["l", "s.y", "s"]))), [0, 9]);
        let error = refused(change(|before| before.without(&["s.x", "s.y"])));
        assert_eq!(error, "`s` would have no fields left; drop `s` itself");
        let error = refused(change(|before| before.without(&["l.item"])));
        assert!(error.contains("`l.item` cannot be dropped: it is a part of how `l`"), "{error}");
        let error = refused(change(|before| before.without(&["l.z"])));
        assert!(error.contains("`item` would have no fields left"), "{error}");
        let error = refused(change(|before| before.without(&["a", "s", "l", "p"])));
        assert!(error.contains("at least one column"), "{error}");
        let error = refused(change(|before| before.without(&["q"])));
        assert!(
            error.starts_with("there is no field `q`; the fields of the table are `a`"),
            "{error}"
        );
    }

    #[test]
    fn a_rename_keeps_the_id() {
        let after = change(|before| before.renamed("s.x", "z")).unwrap();
        assert_eq!((after[2].id, after[2].name.as_str()), (2, "z"));
        assert_eq!(after.iter().zip(fields()).filter(|(one, other)| *one != other).count(), 1);
        // To itself, or to a name that only a field elsewhere has.
        assert!(change(|before| before.renamed("p", "p")).is_ok());
        assert!(change(|before| before.renamed("s.x", "a")).is_ok());
        assert_eq!(refused(change(|b| b.renamed("s.x", "y"))), "there is a field `y` already");
        for bad in ["", "a.b", "_rowid", "_rowaddr"] {
            let error = refused(change(|before| before.renamed("p", bad)));
            assert!(error.contains(&format!("`{bad}` cannot be the name")), "{error}");
        }
        assert!(refused(change(|b| b.renamed("l.item", "i"))).contains("cannot be renamed"));
    }

    #[test]
    fn columns_move_whole() {
        assert_eq!(ids(change(|b| b.reordered(&["p", "l", "a", "s"]))), [9, 4, 5, 6, 0, 1, 2, 3]);
        assert_eq!(ids(change(|b| b.reordered(&["l"]))), [4, 5, 6, 0, 1, 2, 3, 9]);
        assert_eq!(refused(change(|b| b.reordered(&["a", "a"]))), "column `a` is named twice");
        assert!(change(|b| b.reordered(&["s.x"])).is_err());
    }

    #[test]
    fn new_columns_come_last_and_other_types_in_place() {
        let more = || vec![field(10, None, "m", "struct"), field(11, Some(10), "a", "int8")];
        assert_eq!(ids(change(|b| b.with_added(more()))), [0, 1, 2, 3, 4, 5, 6, 9, 10, 11]);
        assert_eq!(ids(change(|b| b.replaced("s", &more()))), [0, 10, 11, 4, 5, 6, 9]);
        let taken = vec![field(10, None, "p", "int8")];
        let error = refused(change(|before| before.with_added(taken.clone())));
        assert_eq!(error, "there is a column `p` already");
        let twice = vec![field(10, None, "q", "int8"), field(11, None, "q", "int8")];
        assert!(change(|before| before.with_added(twice.clone())).is_err());
        assert!(change(|before| before.replaced("s.x", &taken)).is_err());
    }

    #[test]
    fn a_field_may_be_null_or_not() {
        let after = change(|before| before.with_nullable("s.y", false)).unwrap();
        let strict: Vec<i32> = after.iter().filter(|f| !f.nullable).map(|f| f.id).collect();
        assert_eq!(strict, [3]);
    }
}
