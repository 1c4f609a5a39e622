//! `--where` and `--set`: any SQL where this build has it, and without it a small part, which says the same.
//!
//! The small part comes first in both builds: zone maps leave out rows for it, which an expression of SQL has to look at.

use std::str::FromStr;

use arrow_schema::Schema;
use lancet::Filter;

use super::condition::Condition;
use super::literal::Literal;
use super::tokens::{Token, tokens};
use crate::sql::Expression;

/// What there is without SQL, for who writes something else.
const CONDITIONS: &str = "without SQL, conditions compare a column with a value (=, !=, <, <=, >, >=), IN a \
                          list or IS NULL, joined by AND, OR and NOT";
const VALUES: &str = "write COLUMN=VALUE, where the value is a number, a text in single quotes, true, false \
                      or null";

/// A condition on rows, before it is known what the columns are.
#[derive(Debug, Clone)]
pub struct Where {
    /// As it was written.
    pub text: String,
    /// None if only SQL can say it.
    small: Option<Condition>,
}

/// The same when it is known.
pub enum Chosen {
    Filter(Filter),
    Expression(Expression),
}

impl FromStr for Where {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let small = match (text.parse(), Expression::MISSING) {
            (Ok(small), _) => Some(small),
            (Err(message), Some(how)) => return Err(format!("{message}; {CONDITIONS}; {how}")),
            (Err(_), None) => Expression::check(text).map(|()| None)?,
        };
        Ok(Self { text: text.to_owned(), small })
    }
}

impl Where {
    /// What chooses the rows of a table with these columns.
    pub fn of(&self, schema: &Schema) -> Result<Chosen, String> {
        let refused = match self.small.as_ref().map(|small| small.filter(schema)) {
            Some(Ok(filter)) => return Ok(Chosen::Filter(filter)),
            Some(Err(message)) => Some(message),
            None => None,
        };
        // What the small part knows it also has the better words for.
        let expression = Expression::new(&self.text, schema, None);
        expression.map(Chosen::Expression).map_err(|message| refused.unwrap_or(message))
    }
}

/// One `--set`: a column and the value that it gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub column: String,
    pub value: Value,
}

/// A value that is given, or worked out for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Literal(Literal),
    Expression(String),
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let column = match tokens(name).as_deref() {
            Ok([Token::Name(name) | Token::Word(name)]) => name.clone(),
            _ => return Err(VALUES.into()),
        };
        let literal = match tokens(value).as_deref() {
            Ok([word]) => Literal::of(word),
            _ => None,
        };
        let value = match (literal, Expression::MISSING) {
            (Some(literal), _) => Value::Literal(literal),
            (None, _) if value.trim().is_empty() => return Err(VALUES.into()),
            (None, Some(how)) => return Err(format!("{VALUES}; {how}")),
            (None, None) => {
                Expression::check(value).map_err(|message| format!("`{value}`: {message}"))?;
                Value::Expression(value.trim().to_owned())
            }
        };
        Ok(Self { column, value })
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn assignments() {
        let set = |text: &str| text.parse::<Assignment>();
        let number = Value::Literal(Literal::Number("3".into()));
        assert_eq!(set("n=3").unwrap().value, number);
        assert_eq!(set("a.city = 'it''s = it'").unwrap().column, "a.city");
        assert_eq!(set("\"n\"=NULL").unwrap().value, Value::Literal(Literal::Null));
        for bad in ["n", "n=", "n>1", "=1", "n m=2"] {
            assert!(set(bad).unwrap_err().contains("COLUMN=VALUE"), "{bad}");
        }
        match Expression::MISSING {
            Some(_) => assert!(set("n=m").unwrap_err().contains("--features sql")),
            None => {
                assert_eq!(set("n = m + 1").unwrap().value, Value::Expression("m + 1".into()));
                assert_eq!(set("n=m = 1").unwrap().value, Value::Expression("m = 1".into()));
                assert!(set("n=1 2").is_err() && set("n=m +").is_err());
            }
        }
    }

    #[test]
    fn conditions_are_small_or_sql() {
        let schema = Schema::new(vec![
            Field::new("n", DataType::Int32, true),
            Field::new("Name", DataType::Utf8, true),
        ]);
        let chosen = |text: &str| text.parse::<Where>().and_then(|text| text.of(&schema));
        assert!(matches!(chosen("n > 3 AND Name = 'x'"), Ok(Chosen::Filter(_))));
        let error = |text: &str| chosen(text).err().unwrap();
        assert_eq!(error("m > 3"), "there is no column `m`; there are n, Name");
        if Expression::MISSING.is_some() {
            assert!(error("n + 1 > 3").contains("--features sql"));
            return;
        }
        for sql in ["n + 1 > 3", "length(Name) > n", "n = '3'", "3 < n", "_rowid IN (1, 2)"] {
            assert!(matches!(chosen(sql), Ok(Chosen::Expression(_))), "{sql}");
        }
        assert!(error("n + m > 3").contains("there is no column `m`"));
        assert!(error("n >").contains("expected"), "{}", error("n >"));
    }
}
