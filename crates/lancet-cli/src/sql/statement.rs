//! Text as statements.
//!
//! Statements are those of DataFusion, and what people know of DuckDB: `FROM t` without a SELECT,
//! `SUMMARIZE`, and columns that are called like the expression they are.

use std::ops::ControlFlow;

use datafusion::error::{DataFusionError, Result};
use datafusion::sql::parser::{CopyToSource, DFParserBuilder, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{Select, VisitMut, VisitorMut};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, TokenizerError};

use super::{changes, columns, from_first};

/// One statement.
#[derive(Debug)]
pub(super) enum Statement {
    /// What DataFusion knows.
    Plain(Box<DfStatement>),
    /// What is to be known of each column of a query's answer.
    Summarize(Box<DfStatement>),
}

/// The statements of a text, which has semicolons between them.
pub(super) fn parse(text: &str) -> Result<Vec<Statement>> {
    let tokens =
        tokens(text).map_err(|error| DataFusionError::SQL(Box::new(error.into()), None))?;
    tokens
        .split(|token| token.token == Token::SemiColon)
        .filter(|tokens| tokens.iter().any(is_word))
        .map(|tokens| one(tokens.to_vec()))
        .collect()
}

/// Whether a text ends with a semicolon, so that all its statements are complete.
pub(super) fn is_complete(text: &str) -> bool {
    // What has no end yet, such as a string, cannot be cut into tokens.
    tokens(text).is_ok_and(|tokens| {
        tokens
            .iter()
            .rev()
            .find(|token| is_word(token))
            .is_some_and(|t| t.token == Token::SemiColon)
    })
}

/// Whether there is nothing but spaces and comments.
pub(super) fn is_empty(text: &str) -> bool {
    tokens(text).is_ok_and(|tokens| !tokens.iter().any(is_word))
}

fn tokens(text: &str) -> Result<Vec<TokenWithSpan>, TokenizerError> {
    Tokenizer::new(&GenericDialect {}, text).tokenize_with_location()
}

/// Whether it is no space and no comment.
pub(super) fn is_word(token: &TokenWithSpan) -> bool {
    !matches!(token.token, Token::Whitespace(_) | Token::EOF)
}

fn one(tokens: Vec<TokenWithSpan>) -> Result<Statement> {
    let (tokens, summarize) = match without_summarize(&tokens) {
        Some(rest) => (rest, true),
        None => (tokens, false),
    };
    let mut parser = DFParserBuilder::new(from_first::with_select(&tokens)).build()?;
    let mut statement = parser.parse_statement()?;
    if parser.parser.peek_token_ref().token != Token::EOF {
        let found = parser.parser.peek_token();
        return Ok(parser.parser.expected("the end of the statement or a semicolon", found)?);
    }
    changes::check_assignments(&statement)?;
    name_columns(&mut statement);
    let statement = Box::new(statement);
    Ok(if summarize { Statement::Summarize(statement) } else { Statement::Plain(statement) })
}

/// What is summarized: a query, made of the name where it is only a table's.
fn without_summarize(tokens: &[TokenWithSpan]) -> Option<Vec<TokenWithSpan>> {
    let first = tokens.iter().position(is_word)?;
    let Token::Word(word) = &tokens.get(first)?.token else { return None };
    if word.quote_style.is_some() || !word.value.eq_ignore_ascii_case("summarize") {
        return None;
    }
    let rest = tokens.get(first.checked_add(1)?..)?;
    let start = rest.iter().find(|token| is_word(token))?;
    let is_query = match &start.token {
        Token::Word(word) => matches!(
            word.keyword,
            Keyword::SELECT | Keyword::FROM | Keyword::WITH | Keyword::VALUES | Keyword::TABLE
        ),
        token => *token == Token::LParen,
    };
    let mut query = Vec::new();
    if !is_query {
        query.push(TokenWithSpan::new(Token::make_keyword("FROM"), start.span));
    }
    query.extend_from_slice(rest);
    Some(query)
}

fn name_columns(statement: &mut DfStatement) {
    match statement {
        DfStatement::Statement(statement) => drop(statement.visit(&mut NameColumns)),
        DfStatement::Explain(explain) => name_columns(&mut explain.statement),
        DfStatement::CopyTo(copy) => {
            if let CopyToSource::Query(query) = &mut copy.source {
                let _ = query.visit(&mut NameColumns);
            }
        }
        DfStatement::CreateExternalTable(_) | DfStatement::Reset(_) => {}
    }
}

/// For every SELECT, wherever it stands.
struct NameColumns;

impl VisitorMut for NameColumns {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        columns::name(select);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sql: &str) -> String {
        let statements = parse(sql).unwrap();
        let text = |statement: &Statement| match statement {
            Statement::Plain(statement) => statement.to_string(),
            Statement::Summarize(statement) => format!("SUMMARIZE {statement}"),
        };
        statements.iter().map(text).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_table_alone_is_all_of_it() {
        assert_eq!(text("FROM 'a.lance' LIMIT 2"), "SELECT * FROM 'a.lance' LIMIT 2");
        assert_eq!(text("FROM t WHERE a > 1"), "SELECT * FROM t WHERE a > 1");
        assert_eq!(text("FROM t JOIN s USING (a)"), "SELECT * FROM t JOIN s USING(a)");
        assert_eq!(text("FROM t SELECT a WHERE b"), "FROM t SELECT a WHERE b");
        assert_eq!(
            text("WITH t AS (FROM a WHERE b) SELECT b FROM (FROM t) WHERE c IN (FROM d)"),
            "WITH t AS (SELECT * FROM a WHERE b) \
             SELECT b FROM (SELECT * FROM t) WHERE c IN (SELECT * FROM d)"
        );
        assert_eq!(
            text("WITH t AS (SELECT 1 AS a) FROM t ORDER BY a"),
            "WITH t AS (SELECT 1 AS a) SELECT * FROM t ORDER BY a"
        );
        assert_eq!(
            text("FROM a WHERE b UNION ALL FROM c EXCEPT SELECT d FROM e"),
            "SELECT * FROM a WHERE b UNION ALL SELECT * FROM c EXCEPT SELECT d FROM e"
        );
        assert_eq!(text("COPY (FROM t) TO 'a.lance'"), "COPY (SELECT * FROM t) TO a.lance");
        assert_eq!(text("CREATE TABLE n AS FROM t"), "CREATE TABLE n AS SELECT * FROM t");
        assert_eq!(text("INSERT INTO n FROM t"), "INSERT INTO n SELECT * FROM t");
        assert_eq!(text("DESCRIBE FROM t"), "DESCRIBE SELECT * FROM t");
        assert!(text("EXPLAIN ANALYZE FROM t").ends_with("SELECT * FROM t"));
    }

    #[test]
    fn other_queries_stay_as_they_are() {
        for query in [
            "SELECT EXTRACT(YEAR FROM a) AS y, b IS DISTINCT FROM c AS d FROM t",
            "SELECT TRIM(BOTH 'x' FROM a) AS b FROM (SELECT * FROM t) WHERE c IN (1, 2)",
            "SELECT * EXCEPT (a) FROM t",
            "DELETE FROM t WHERE a = 1",
            "SHOW COLUMNS FROM t",
        ] {
            assert_eq!(text(query), query);
        }
    }

    #[test]
    fn summaries_are_of_tables_and_of_queries() {
        assert_eq!(text("SUMMARIZE 'a.lance'"), "SUMMARIZE SELECT * FROM 'a.lance'");
        assert_eq!(text("summarize t;"), "SUMMARIZE SELECT * FROM t");
        assert_eq!(text("/* of */ SUMMARIZE SELECT a FROM t"), "SUMMARIZE SELECT a FROM t");
        assert_eq!(text("SUMMARIZE FROM t"), "SUMMARIZE SELECT * FROM t");
        assert!(parse("SUMMARIZE").is_err());
        assert_eq!(text("SELECT a SUMMARIZE FROM t"), "SELECT a AS SUMMARIZE FROM t");
    }

    #[test]
    fn statements_end_with_a_semicolon() {
        assert_eq!(text(";; SELECT a; -- of\n SELECT ';' ;"), "SELECT a; SELECT ';' AS \"';'\"");
        assert_eq!(text("-- nothing\n;"), "");
        assert!(is_complete("SELECT 1;") && is_complete("SELECT 1 ; -- done\n"));
        assert!(!is_complete("SELECT 1") && !is_complete("SELECT ';") && !is_complete(""));
        assert!(is_empty(" -- only this") && is_empty("") && !is_empty("SELECT"));
    }

    #[test]
    fn errors_tell_the_place_in_the_whole_text() {
        let error = parse("SELECT 1;\n  SELEC 2").unwrap_err().to_string();
        assert!(error.contains("Line: 2, Column: 3"), "{error}");
        let error = parse("SELECT 1 FROM a b c").unwrap_err().to_string();
        assert!(error.contains("Line: 1, Column: 19"), "{error}");
    }
}
