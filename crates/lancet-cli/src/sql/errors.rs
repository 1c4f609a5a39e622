//! Errors of queries in one line that people can read.

use datafusion::common::utils::datafusion_strsim::normalized_levenshtein;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;

use super::FAILED;
use super::disk::Refused;
use crate::error::Error;
use crate::guard::last_panic;

/// Columns that an error lists, at most.
const LISTED: usize = 20;
/// How alike two names are that may be meant for each other, of 1.
const ALIKE: f64 = 0.5;

/// An error of a query in one line, with what to do about it where that is known.
pub(super) fn told(error: DataFusionError) -> Error {
    if let Some(refused) = refused(&error) {
        return Error::new(refused.to_string());
    }
    Error::new(one_line(&match error.find_root() {
        DataFusionError::SQL(error, _) => syntax(error),
        DataFusionError::SchemaError(error, _) => column(error),
        DataFusionError::External(cause) => cause.to_string(),
        DataFusionError::ArrowError(cause, _) => cause.to_string(),
        DataFusionError::ResourcesExhausted(message) => memory(message),
        DataFusionError::Plan(message)
        | DataFusionError::Configuration(message)
        | DataFusionError::Execution(message) => planned(message),
        DataFusionError::NotImplemented(message) => {
            format!("this is not supported: {}", planned(message))
        }
        DataFusionError::ExecutionJoin(_) => format!("{FAILED} ({})", last_panic()),
        DataFusionError::Internal(message) => internal(message),
        other => planned(&other.strip_backtrace()),
    }))
}

/// The file that is not read, if that is the cause.
pub(super) fn refused(error: &DataFusionError) -> Option<&Refused> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    std::iter::from_fn(|| {
        let this = cause?;
        cause = this.source();
        Some(this)
    })
    .find_map(|cause| cause.downcast_ref())
}

fn one_line(text: &str) -> String {
    text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What cannot be parsed, with its place first.
fn syntax(error: &ParserError) -> String {
    let message = match error {
        ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
        ParserError::RecursionLimitExceeded => return "the query is nested too deep".into(),
    };
    let message = message.replacen("Expected: ", "expected ", 1).replacen("found: ", "found ", 1);
    let message = message.replace("found EOF", "found the end of the query");
    let place = message.rsplit_once(" at Line: ").and_then(|(what, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let column: String = column.chars().take_while(char::is_ascii_digit).collect();
        Some(format!("line {line}, column {column}: {what}"))
    });
    place.unwrap_or(message)
}

fn column(error: &SchemaError) -> String {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => unknown(field, valid_fields),
        SchemaError::AmbiguousReference { field } => format!(
            "more than one table has a column `{name}`; write which one is meant, as in t.{name}",
            name = field.name
        ),
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => {
            format!("two columns are called `{name}`; give one of them another name with AS")
        }
    }
}

fn unknown(field: &Column, known: &[Column]) -> String {
    let mut names: Vec<&str> = known.iter().map(|column| column.name.as_str()).collect();
    names.dedup();
    let alike =
        |name: &str| normalized_levenshtein(&field.name.to_lowercase(), &name.to_lowercase());
    let near = names.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    let hint = match near {
        // Names without quotes are read as lower case.
        Some(name) if name.to_lowercase() == field.name.to_lowercase() && **name != field.name => {
            format!("; write \"{name}\" with double quotes, which keep capital letters")
        }
        Some(name) if alike(name) >= ALIKE && **name != field.name => {
            format!("; did you mean `{name}`?")
        }
        _ => String::new(),
    };
    let column = match &field.relation {
        Some(table) => format!("{}.{}", table.table(), field.name),
        None => field.name.clone(),
    };
    let shown: Vec<&str> = names.iter().take(LISTED).copied().collect();
    let list = match names.len() {
        0 => String::new(),
        n if n > LISTED => format!("; there are: {}, …", shown.join(", ")),
        _ => format!("; there are: {}", shown.join(", ")),
    };
    let list = if hint.ends_with('?') { list.replacen("; t", " T", 1) } else { list };
    format!("there is no column `{column}`{hint}{list}")
}

fn memory(message: &str) -> String {
    let what = message.split_once(" with ").map_or(message, |(what, _)| what);
    format!(
        "the query needs more memory than it may have; give it more with --memory-limit, or use \
         fewer --threads ({})",
        what.replace("Failed to allocate additional", "no more")
    )
}

/// What a planner or an operator says.
fn planned(message: &str) -> String {
    let message = message.replace("datafusion.public.", "");
    if let Some(table) =
        message.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found"))
    {
        return format!(
            "there is no table `{table}`; a file is a table when its name is in quotes: \
             FROM 'data.lance'"
        );
    }
    if let Some(call) =
        between(&message, "No function matches the given name and argument types '", "'")
    {
        return format!(
            "there is no function {call}; CAST(… AS …) changes the type of an argument"
        );
    }
    if let Some(name) = between(&message, "Invalid function '", "'") {
        return format!("there is no function `{name}`; SHOW FUNCTIONS lists those there are");
    }
    if let Some(name) = between(&message, "column \"", "\" must appear in the GROUP BY clause") {
        return format!(
            "column {name} has to be in GROUP BY, or inside of a function such as max or count"
        );
    }
    without_trees(&without_types(&message))
}

/// What DataFusion takes for a mistake of its own.
fn internal(message: &str) -> String {
    match between(message, "No suitable object store found for ", ". See") {
        Some(url) => format!("{url}: queries read and write files on disk"),
        None => format!("DataFusion failed: {}", planned(message)),
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    Some(text.split_once(before)?.1.split_once(after)?.0)
}

/// Constants as they are written: `1` instead of `Int64(1)`, `'a'` instead of `Utf8("a")`.
pub(super) fn without_types(message: &str) -> String {
    let mut plain = String::new();
    let mut rest = message;
    while let Some((before, value)) = rest.split_once('(') {
        let word = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let (text, name) = before.split_at_checked(word).unwrap_or((before, ""));
        let constant = ["Int", "UInt", "Float", "Utf8", "LargeUtf8", "Boolean"]
            .iter()
            .any(|known| name.starts_with(known));
        match value.split_once(')') {
            Some((value, after)) if constant && !value.contains('(') => {
                plain.push_str(text);
                plain.push_str(&value.replace('"', "'"));
                rest = after;
            }
            _ => {
                plain.push_str(before);
                plain.push('(');
                rest = value;
            }
        }
    }
    plain + rest
}

/// The message up to a syntax tree in it, with the name of the tree and the place that it tells.
fn without_trees(message: &str) -> String {
    let Some(start) = tree(message) else { return message.to_owned() };
    let (what, tree) = message.split_at_checked(start).unwrap_or((message, ""));
    let name: String = tree.chars().take_while(char::is_ascii_alphanumeric).collect();
    let places = tree.split("Location(").skip(1).filter_map(|rest| {
        let (line, column) = rest.split_once(')')?.0.split_once(',')?;
        Some((line.trim(), column.trim()))
    });
    match places.into_iter().find(|(line, _)| *line != "0") {
        Some((line, column)) => format!("line {line}, column {column}: {what}{name}"),
        None => format!("{what}{name}"),
    }
}

/// Where a tree starts: `Name { …`, or `Name(` with another such name inside.
fn tree(message: &str) -> Option<usize> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut starts = message.char_indices().filter(|(at, c)| {
        c.is_ascii_uppercase()
            && !message.get(..*at).is_some_and(|before| before.ends_with(is_name))
    });
    starts.find_map(|(at, _)| {
        let rest = message.get(at..)?;
        let after = rest.trim_start_matches(is_name);
        let inner = after.strip_prefix('(').unwrap_or_default();
        let nested = inner.trim_start_matches(is_name);
        let is_tree = after.starts_with(" { ")
            || (inner.starts_with(|c: char| c.is_ascii_uppercase())
                && (nested.starts_with(" { ") || nested.starts_with('(')));
        is_tree.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_written_as_they_were() {
        assert_eq!(without_types("a > Int64(1) AND b = Utf8(\"x\")"), "a > 1 AND b = 'x'");
        assert_eq!(without_types("count(Int64(1)) (yes)"), "count(1) (yes)");
        assert_eq!(without_types("Int64 or max(Int64)"), "Int64 or max(Int64)");
    }

    #[test]
    fn trees_are_cut() {
        assert_eq!(without_trees("Int64 and Utf8(3) differ"), "Int64 and Utf8(3) differ");
        assert_eq!(
            without_trees("Unsupported node: Ident { value: \"a\" }"),
            "Unsupported node: Ident"
        );
        assert_eq!(
            without_trees("no: Value(ValueWithSpan { span: Span(Location(2,8)..Location(2,9)) })"),
            "line 2, column 8: no: Value"
        );
    }
}
