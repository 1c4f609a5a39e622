//! `FROM t` without a SELECT, which means all of it.
//!
//! The parser knows no more than the tables of such a query, so `SELECT *` is put before them.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::statement::is_word;

/// Where in a query a token stands, inside one pair of parentheses.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Where a query may begin.
    Start,
    /// Behind WITH, where one begins behind the tables that it names.
    With,
    /// In CREATE, where one begins behind AS.
    Create,
    /// In INSERT, where one begins behind the table.
    Insert,
    /// Anywhere else.
    Inside,
}

impl Place {
    fn behind(self, keyword: Keyword) -> Self {
        match (self, keyword) {
            (_, Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT) => Self::Start,
            (Self::Start, Keyword::WITH) => Self::With,
            (Self::Start, Keyword::CREATE) => Self::Create,
            (Self::Start, Keyword::INSERT) => Self::Insert,
            (Self::Create, Keyword::AS) => Self::Start,
            (
                Self::Start,
                Keyword::ALL
                | Keyword::DISTINCT
                | Keyword::BY
                | Keyword::NAME
                | Keyword::EXPLAIN
                | Keyword::ANALYZE
                | Keyword::VERBOSE
                | Keyword::DESCRIBE
                | Keyword::DESC,
            ) => Self::Start,
            (Self::With | Self::Insert, Keyword::FROM | Keyword::SELECT) => Self::Inside,
            (Self::Start, _) => Self::Inside,
            (place, _) => place,
        }
    }

    fn behind_sign(self) -> Self {
        if self == Self::Start { Self::Inside } else { self }
    }
}

/// Puts `SELECT *` before every FROM that begins a query without one.
pub(super) fn with_select(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut complete = Vec::with_capacity(tokens.len());
    let mut around = Vec::new(); // places of the parentheses that are open
    let mut place = Place::Start;
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen => {
                around.push(place.behind_sign());
                place = Place::Start;
            }
            Token::RParen => place = around.pop().unwrap_or(Place::Inside),
            Token::Word(word) => {
                let begins = matches!(place, Place::Start | Place::With | Place::Insert);
                if begins && word.keyword == Keyword::FROM && !selects(tokens.get(at..)) {
                    complete.push(TokenWithSpan::new(Token::make_keyword("SELECT"), token.span));
                    complete.push(TokenWithSpan::new(Token::Mul, token.span));
                }
                place = place.behind(word.keyword);
            }
            _ if is_word(token) => place = place.behind_sign(),
            _ => {}
        }
        complete.push(token.clone());
    }
    complete
}

/// Whether the query that begins here has a SELECT behind its tables.
fn selects(query: Option<&[TokenWithSpan]>) -> bool {
    let mut depth = 0_usize;
    for token in query.unwrap_or_default() {
        match &token.token {
            Token::LParen => depth = depth.saturating_add(1),
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 => match word.keyword {
                Keyword::SELECT => return true,
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => return false,
                _ => {}
            },
            _ => {}
        }
    }
    false
}
