//! Conditions on rows that need no SQL: a small part of it, which lancet's own filters answer exactly, and with the help of
//! zone maps. What they say they say in SQL too.
//!
//! ```text
//! condition  = all { OR all }
//! all        = one { AND one }
//! one        = NOT one | ( condition ) | test
//! test       = column | column op value | column IS [NOT] NULL | column [NOT] IN ( value { , value } )
//! ```

use std::cmp::Ordering;
use std::str::FromStr;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type};
use arrow_schema::{DataType, Schema};
use lancet::{Comparison, Filter};

use super::literal::{Literal, column_type};
use super::tokens::{Token, tokens};

/// Conditions that nest deeper are not read.
const MAX_DEPTH: usize = 64;

/// A condition, before it is known what the columns are.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    root: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    IsTrue(String),
    Compare(String, Comparison, Literal),
    IsNull(String),
    In(String, Vec<Literal>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
        let root = parser.condition()?;
        match parser.next() {
            None => Ok(Self { root }),
            Some(_) => Err(format!("`{text}` goes on where it should end")),
        }
    }
}

impl Condition {
    /// The filter of a table with these columns.
    pub fn filter(&self, schema: &Schema) -> Result<Filter, String> {
        self.root.filter(schema)
    }
}

impl Node {
    fn filter(&self, schema: &Schema) -> Result<Filter, String> {
        let about = |column: &str, message: String| format!("column `{column}`: {message}");
        Ok(match self {
            Self::IsTrue(column) => match column_type(schema, column)? {
                DataType::Boolean => Filter::is_true(column),
                other => {
                    return Err(about(
                        column,
                        format!("is {other}, and alone neither true nor false"),
                    ));
                }
            },
            Self::Compare(column, op, value) => {
                let data_type = column_type(schema, column)?;
                compare(column, data_type, *op, value).map_err(|e| about(column, e))?
            }
            Self::IsNull(column) => column_type(schema, column).map(|_| Filter::is_null(column))?,
            Self::In(column, values) => {
                let data_type = column_type(schema, column)?;
                let one = |value| compare(column, data_type, Comparison::Eq, value);
                let any = values.iter().map(one).collect::<Result<_, _>>();
                Filter::Or(any.map_err(|e| about(column, e))?)
            }
            Self::All(nodes) => {
                Filter::And(nodes.iter().map(|node| node.filter(schema)).collect::<Result<_, _>>()?)
            }
            Self::Any(nodes) => {
                Filter::Or(nodes.iter().map(|node| node.filter(schema)).collect::<Result<_, _>>()?)
            }
            Self::Not(node) => !node.filter(schema)?,
        })
    }
}

/// A column compared with a value. As in SQL, numbers beside floats have 64 bits; a column with fewer has a number near the one
/// that is meant, on one side of it.
fn compare(
    column: &str,
    data_type: &DataType,
    op: Comparison,
    value: &Literal,
) -> Result<Filter, String> {
    use Comparison as C;
    let near = value.to_compare(data_type)?;
    let filter = |op| Filter::compare(column, op, &near);
    let (below, above) = match beside(&near, value) {
        None => return Ok(filter(op)),
        Some(Ordering::Greater) => (C::Lt, C::GtEq),
        Some(_) => (C::LtEq, C::Gt),
    };
    Ok(match op {
        C::Lt | C::LtEq => filter(below),
        C::Gt | C::GtEq => filter(above),
        // Of no value of the column this is true; of null it is null.
        C::Eq => Filter::And(vec![filter(below), filter(above)]),
        _ => Filter::Or(vec![filter(below), filter(above)]),
    })
}

/// On which side of a number the float is that stands for it, if it is not the same.
fn beside(near: &ArrayRef, number: &Literal) -> Option<Ordering> {
    let Literal::Number(text) = number else { return None };
    let near = match near.data_type() {
        DataType::Float16 => near.as_primitive::<Float16Type>().iter().next()??.to_f64(),
        DataType::Float32 => near.as_primitive::<Float32Type>().iter().next()??.into(),
        _ => return None,
    };
    near.partial_cmp(&text.parse().ok()?).filter(|side| side.is_ne())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek().cloned()?;
        self.at += 1;
        Some(token)
    }

    /// Goes over a keyword, if it is the next word.
    fn skip(&mut self, keyword: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is(keyword));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &Token, shown: &str) -> Result<(), String> {
        match self.next() {
            Some(found) if found == *token => Ok(()),
            _ => Err(format!("a {shown} is missing")),
        }
    }

    fn condition(&mut self) -> Result<Node, String> {
        let mut any = vec![self.all()?];
        while self.skip("or") {
            any.push(self.all()?);
        }
        Ok(single(any, Node::Any))
    }

    fn all(&mut self) -> Result<Node, String> {
        let mut all = vec![self.one()?];
        while self.skip("and") {
            all.push(self.one()?);
        }
        Ok(single(all, Node::All))
    }

    fn one(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it nests deeper than {MAX_DEPTH}"));
        }
        let node = if self.skip("not") {
            Node::Not(Box::new(self.one()?))
        } else if self.peek() == Some(&Token::Open) {
            self.at += 1;
            let inner = self.condition()?;
            self.expect(&Token::Close, ")")?;
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn test(&mut self) -> Result<Node, String> {
        let column = match self.next() {
            Some(Token::Name(name)) => name,
            Some(Token::Word(word)) if !is_keyword(&word) => word,
            Some(_) => return Err("a column must come first".into()),
            None => return Err("a column is missing at the end".into()),
        };
        if let Some(Token::Op(op)) = self.peek() {
            let op = *op;
            self.at += 1;
            return Ok(Node::Compare(column, op, self.value()?));
        }
        if self.skip("is") {
            let negated = self.skip("not");
            return match self.skip("null") {
                true => Ok(negated_if(negated, Node::IsNull(column))),
                false => Err("IS is followed by NULL or NOT NULL".into()),
            };
        }
        let negated = self.skip("not");
        if self.skip("in") {
            self.expect(&Token::Open, "(")?;
            let mut values = vec![self.value()?];
            while self.peek() == Some(&Token::Comma) {
                self.at += 1;
                values.push(self.value()?);
            }
            self.expect(&Token::Close, ")")?;
            return Ok(negated_if(negated, Node::In(column, values)));
        }
        match negated {
            true => Err("NOT behind a column is followed by IN".into()),
            false => Ok(Node::IsTrue(column)),
        }
    }

    fn value(&mut self) -> Result<Literal, String> {
        let token = self.next().ok_or("a value is missing at the end")?;
        Literal::of(&token).ok_or_else(|| match token {
            Token::Word(word) => {
                format!("`{word}` is no value; texts are written in single quotes")
            }
            Token::Name(name) => {
                format!("\"{name}\" is the name of a column; texts are written in single quotes")
            }
            _ => "a value is missing".into(),
        })
    }
}

fn single(mut nodes: Vec<Node>, join: impl FnOnce(Vec<Node>) -> Node) -> Node {
    match nodes.len() {
        1 => nodes.remove(0),
        _ => join(nodes),
    }
}

fn negated_if(negated: bool, node: Node) -> Node {
    if negated { Node::Not(Box::new(node)) } else { node }
}

fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 8] = ["and", "or", "not", "in", "is", "null", "true", "false"];
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

#[cfg(test)]
mod tests {
    use arrow_schema::Field;

    use super::*;

    fn schema() -> Schema {
        let inner = vec![Field::new("city", DataType::Utf8, true)];
        Schema::new(vec![
            Field::new("n", DataType::Int32, true),
            Field::new("f", DataType::Float32, true),
            Field::new("h", DataType::Float16, true),
            Field::new("ok", DataType::Boolean, true),
            Field::new("day", DataType::Date32, true),
            Field::new("a", DataType::Struct(inner.into()), true),
        ])
    }

    fn filter(text: &str) -> Result<String, String> {
        Ok(format!("{:?}", text.parse::<Condition>()?.filter(&schema())?))
    }

    #[test]
    fn and_binds_closer_than_or_and_not_closest() {
        let one = filter("n = 1 OR n = 2 AND NOT ok").unwrap();
        assert_eq!(one, filter("(n = 1) or ((n = 2) and (not (ok)))").unwrap());
        assert_ne!(one, filter("(n = 1 OR n = 2) AND NOT ok").unwrap());
    }

    #[test]
    fn values_are_those_of_the_column() {
        for good in [
            "n > 2.5",
            "n = 99999999999999999999",
            "n > 1e3",
            "n <= -1.25E+1",
            "n != 5e-1",
            "f = 0.1",
            "h > 1",
            "h = 0.1",
            "day >= '2024-01-01'",
            "a.city = 'Bern'",
            "\"a.city\" IS NOT NULL",
            "n IN (1, 2) AND a.city NOT IN ('x')",
            "ok = true",
        ] {
            filter(good).unwrap();
        }
        for (bad, expected) in [
            ("m = 1", "there is no column `m`; there are n, f, h, ok, day, a"),
            ("a.town = 'x'", "there is no column `a.town`"),
            ("n = '1'", "column `n`: `'1'` is no Int32; write numbers without quotes"),
            ("a.city = 1", "texts in single quotes"),
            ("n = null", "IS NULL"),
            ("n", "neither true nor false"),
            ("day = '1.1.2024'", "column `day`"),
            ("n IN ()", "a value is missing"),
            ("n = 1 n", "goes on where it should end"),
            ("n = m", "`m` is no value"),
            ("upper(n) = 1", "goes on"),
            ("(n = 1", "a ) is missing"),
            ("", "a column is missing"),
        ] {
            let message = filter(bad).unwrap_err();
            assert!(message.contains(expected), "{bad}: {message}");
        }
    }

    #[test]
    fn exponents_are_digits() {
        for (short, long) in [
            ("1e3", "1000"),
            ("-1.25E+1", "-12.5"),
            ("5e-1", "0.5"),
            ("12.5e-3", "0.0125"),
            ("1.250e1", "12.50"),
            ("+.5e1", "05"),
            ("7e0", "7"),
        ] {
            let filter = |number: &str| filter(&format!("n > {number}")).unwrap();
            assert_eq!(filter(short), filter(long), "{short}");
        }
        for endless in ["1e77", "1e-80", "1e99999999999999999999", "1e9223372036854775807"] {
            let message = filter(&format!("n > {endless}")).unwrap_err();
            assert!(message.contains("has too many digits"), "{message}");
        }
    }

    #[test]
    fn deep_nests_are_refused() {
        let deep = format!("{}n = 1{}", "(".repeat(10_000), ")".repeat(10_000));
        assert!(filter(&deep).unwrap_err().contains("nests deeper"));
        assert!(filter(&format!("{}ok", "not ".repeat(10_000))).is_err());
    }
}
