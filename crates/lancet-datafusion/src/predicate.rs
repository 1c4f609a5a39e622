//! Predicates of DataFusion as filters over zone maps.
//!
//! What a filter cannot say becomes `Unknown`, which every row may match.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use lancet::{Comparison, Filter};

use crate::fields::field_name;

/// The filter that a predicate over the columns of a file amounts to.
pub(crate) fn filter(predicate: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Filter {
    translate(predicate, schema).unwrap_or(Filter::Unknown)
}

fn translate(node: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Filter> {
    if let Some(binary) = node.downcast_ref::<BinaryExpr>() {
        return translate_binary(binary, schema);
    }
    if let Some(not) = node.downcast_ref::<NotExpr>() {
        return Some(!filter(not.arg(), schema));
    }
    if let Some(null) = node.downcast_ref::<IsNullExpr>() {
        return Some(Filter::is_null(column(null.arg(), schema)?));
    }
    if let Some(null) = node.downcast_ref::<IsNotNullExpr>() {
        return Some(Filter::is_not_null(column(null.arg(), schema)?));
    }
    if let Some(list) = node.downcast_ref::<InListExpr>() {
        let values = list.list().iter().map(literal).collect::<Option<Vec<_>>>()?;
        let values = ScalarValue::iter_to_array(values.into_iter().cloned()).ok()?;
        return Some(negated(
            list.negated(),
            Filter::in_list(column(list.expr(), schema)?, values),
        ));
    }
    if let Some(like) = node.downcast_ref::<LikeExpr>() {
        let pattern = literal(like.pattern())?.try_as_str()??;
        let name = column(like.expr(), schema)?;
        let matched = if like.case_insensitive() { None } else { like_pattern(name, pattern) };
        return Some(negated(like.negated(), matched?));
    }
    if let Some(literal) = literal(node) {
        return match literal {
            ScalarValue::Boolean(Some(value)) => Some(Filter::Constant(*value)),
            _ => None,
        };
    }
    if let Some(function) = node.downcast_ref::<ScalarFunctionExpr>()
        && function.name() == "starts_with"
        && let [of, prefix] = function.args()
    {
        let prefix = literal(prefix)?.try_as_str()??;
        return Some(Filter::starts_with(column(of, schema)?, prefix));
    }
    match node.data_type(schema) {
        Ok(DataType::Boolean) => Some(Filter::is_true(column(node, schema)?)),
        _ => None,
    }
}

fn translate_binary(binary: &BinaryExpr, schema: &Schema) -> Option<Filter> {
    let (left, right) = (binary.left(), binary.right());
    match binary.op() {
        Operator::And => return Some(filter(left, schema).and(filter(right, schema))),
        Operator::Or => return Some(filter(left, schema).or(filter(right, schema))),
        _ => {}
    }
    let (of, value, op) = match literal(right) {
        Some(value) => (left, value, *binary.op()),
        None => (right, literal(left)?, binary.op().swap()?),
    };
    let name = column(of, schema)?;
    let compare = |op| Some(Filter::compare(name.clone(), op, &value.to_scalar().ok()?));
    match op {
        Operator::Eq => compare(Comparison::Eq),
        Operator::NotEq => compare(Comparison::NotEq),
        Operator::Lt => compare(Comparison::Lt),
        Operator::LtEq => compare(Comparison::LtEq),
        Operator::Gt => compare(Comparison::Gt),
        Operator::GtEq => compare(Comparison::GtEq),
        Operator::IsNotDistinctFrom if value.is_null() => Some(Filter::is_null(name)),
        // Unlike `=` these are never null.
        Operator::IsNotDistinctFrom => {
            Some(compare(Comparison::Eq)?.and(Filter::is_not_null(name)))
        }
        Operator::IsDistinctFrom if value.is_null() => Some(Filter::is_not_null(name)),
        Operator::IsDistinctFrom => Some(compare(Comparison::NotEq)?.or(Filter::is_null(name))),
        _ => None,
    }
}

fn negated(negated: bool, filter: Filter) -> Filter {
    if negated { !filter } else { filter }
}

/// What a pattern says: all of it where it is a prefix or has no wildcards, otherwise its beginning.
fn like_pattern(column: String, pattern: &str) -> Option<Filter> {
    let plain = pattern.find(['%', '_', '\\']).unwrap_or(pattern.len());
    let (prefix, rest) = pattern.split_at_checked(plain)?;
    let begins = || Filter::starts_with(column.clone(), prefix.as_bytes());
    match rest {
        "" => {
            let value: ArrayRef = Arc::new(arrow_array::StringArray::from(vec![prefix]));
            Some(Filter::Compare { column, op: Comparison::Eq, value })
        }
        "%" => Some(begins()),
        _ if prefix.is_empty() => None,
        _ => Some(begins().and(Filter::Unknown)),
    }
}

fn literal(node: &Arc<dyn PhysicalExpr>) -> Option<&ScalarValue> {
    node.downcast_ref::<Literal>().map(Literal::value)
}

/// The name of the field that an expression is, or of which it is a cast that changes no value and
/// no order.
fn column(node: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<String> {
    if let Some(cast) = node.downcast_ref::<CastExpr>() {
        let from = cast.expr().data_type(schema).ok()?;
        return if is_exact(&from, cast.cast_type()) { column(cast.expr(), schema) } else { None };
    }
    match node.downcast_ref::<Column>() {
        Some(column) => schema.fields().get(column.index()).map(|field| field.name().clone()),
        None => field_name(node, schema),
    }
}

/// Whether a cast keeps every value as it is.
fn is_exact(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        _ if from == to => true,
        (Int8, Int16 | Int32 | Int64)
        | (Int16, Int32 | Int64)
        | (Int32, Int64)
        | (UInt8, UInt16 | UInt32 | UInt64 | Int16 | Int32 | Int64)
        | (UInt16, UInt32 | UInt64 | Int32 | Int64)
        | (UInt32, UInt64 | Int64)
        | (Float16, Float32 | Float64)
        | (Float32, Float64) => true,
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View)
        | (Binary | LargeBinary | BinaryView, Binary | LargeBinary | BinaryView) => true,
        (Dictionary(_, values), to) => values.as_ref() == to,
        (Decimal128(p, s), Decimal128(to_p, to_s)) => {
            to_s >= s && i16::from(*to_p) - i16::from(*to_s) >= i16::from(*p) - i16::from(*s)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::Field;
    use datafusion::physical_expr::expressions::{
        binary, cast, col, in_list, is_null, like, lit, not,
    };

    fn schema() -> Schema {
        Schema::new(vec![
            Field::new("i", DataType::Int32, true),
            Field::new("f", DataType::Float64, true),
            Field::new("s", DataType::Utf8, true),
            Field::new("b", DataType::Boolean, true),
        ])
    }

    fn shown(predicate: &Arc<dyn PhysicalExpr>) -> String {
        format!("{:?}", filter(predicate, &schema()))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn compared(left: Arc<dyn PhysicalExpr>, op: Operator, right: Arc<dyn PhysicalExpr>) -> String {
        shown(&binary(left, op, right, &schema()).unwrap())
    }

    #[test]
    fn comparisons() {
        let schema = &schema();
        let i = || col("i", schema).unwrap();
        assert!(compared(i(), Operator::Lt, lit(7)).contains("op: Lt"));
        assert!(compared(lit(7), Operator::Lt, i()).contains("op: Gt,"));
        let wide = cast(i(), schema, DataType::Int64).unwrap();
        assert!(compared(wide, Operator::Eq, lit(7_i64)).contains("column: \"i\", op: Eq"));
        let other = cast(i(), schema, DataType::Utf8).unwrap();
        assert_eq!(compared(other, Operator::Eq, lit("7")), "Unknown");
        assert_eq!(compared(i(), Operator::Lt, i()), "Unknown");
        let sum = binary(i(), Operator::Plus, lit(1), schema).unwrap();
        assert_eq!(compared(sum, Operator::Lt, lit(7)), "Unknown");
    }

    #[test]
    fn patterns() {
        let schema = &schema();
        let like = |pattern: &str| {
            shown(&like(false, false, col("s", schema).unwrap(), lit(pattern), schema).unwrap())
        };
        assert!(like("ab").starts_with("Compare { column: \"s\", op: Eq"));
        assert!(like("ab%").starts_with("StartsWith"));
        assert!(like("ab_").starts_with("And([StartsWith") && like("ab_").ends_with("Unknown])"));
        assert_eq!(like("%ab"), "Unknown");
    }

    #[test]
    fn the_others() {
        let schema = &schema();
        let (s, b) = (|| col("s", schema).unwrap(), || col("b", schema).unwrap());
        assert_eq!(shown(&b()), "IsTrue { column: \"b\" }");
        assert_eq!(shown(&not(b()).unwrap()), "Not(IsTrue { column: \"b\" })");
        assert_eq!(shown(&is_null(s()).unwrap()), "IsNull { column: \"s\" }");
        let list = in_list(s(), vec![lit("a"), lit("b")], &true, schema).unwrap();
        assert!(shown(&list).starts_with("Not(InList { column: \"s\""));
        assert_eq!(shown(&lit(true)), "Constant(true)");
        let alike = compared(s(), Operator::IsNotDistinctFrom, lit("a"));
        assert!(alike.starts_with("And([Compare") && alike.contains("Not(IsNull"), "{alike}");
        let both = binary(b(), Operator::Or, is_null(s()).unwrap(), schema).unwrap();
        assert_eq!(shown(&both), "Or([IsTrue { column: \"b\" }, IsNull { column: \"s\" }])");
    }
}
