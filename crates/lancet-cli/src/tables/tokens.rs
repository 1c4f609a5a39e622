//! The words of a condition.

use lancet::Comparison;

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A keyword, or the name of a column.
    Word(String),
    /// The name of a column, in double quotes or backticks.
    Name(String),
    /// A text in single quotes.
    Text(String),
    /// A number, as it was written.
    Number(String),
    /// `=`, `!=`, `<>`, `<`, `<=`, `>`, `>=`
    Op(Comparison),
    Open,
    Close,
    Comma,
}

impl Token {
    /// Whether it is that keyword, in small or capital letters.
    pub fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }
}

/// The words of a text.
pub fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut rest = text;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let (token, after) = match first {
            '(' => (Token::Open, after(rest, "(")),
            ')' => (Token::Close, after(rest, ")")),
            ',' => (Token::Comma, after(rest, ",")),
            '\'' => {
                let (text, after) = quoted(rest, '\'')?;
                (Token::Text(text), after)
            }
            '"' | '`' => {
                let (name, after) = quoted(rest, first)?;
                (Token::Name(name), after)
            }
            '=' | '!' | '<' | '>' => operator(rest)?,
            '0'..='9' | '-' | '+' | '.' => number(rest)?,
            c if c.is_alphabetic() || c == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                (Token::Word(word.to_owned()), after)
            }
            other => return Err(format!("`{}` means nothing here", other.escape_debug())),
        };
        tokens.push(token);
        rest = after;
    }
}

fn after<'a>(text: &'a str, prefix: &str) -> &'a str {
    text.strip_prefix(prefix).unwrap_or(text)
}

/// What stands in quotes, of which two are one, and the rest.
fn quoted(text: &str, quote: char) -> Result<(String, &str), String> {
    let mut found = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            found.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            found.push(quote);
        } else {
            return Ok((found, text.get(at + quote.len_utf8()..).unwrap_or_default()));
        }
    }
    Err(format!("the quote {quote} has no end"))
}

fn operator(text: &str) -> Result<(Token, &str), String> {
    let known = [
        ("!=", Comparison::NotEq),
        ("<>", Comparison::NotEq),
        ("<=", Comparison::LtEq),
        (">=", Comparison::GtEq),
        ("=", Comparison::Eq),
        ("<", Comparison::Lt),
        (">", Comparison::Gt),
    ];
    let found = known.into_iter().find(|(sign, _)| text.starts_with(sign));
    let (sign, op) = found.ok_or("`!` means nothing here; write NOT, or != to compare")?;
    Ok((Token::Op(op), after(text, sign)))
}

/// A number: digits, a point, an exponent.
fn number(text: &str) -> Result<(Token, &str), String> {
    let mut end = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_sign = matches!(c, '+' | '-') && (at == 0 || matches!(before, 'e' | 'E'));
        if !(c.is_ascii_digit() || c == '.' || matches!(c, 'e' | 'E') || is_sign) {
            break;
        }
        (end, before) = (at + 1, c);
    }
    let (number, after) = text.split_at(end);
    match number.parse::<f64>() {
        Ok(_) if !after.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
            Ok((Token::Number(number.to_owned()), after))
        }
        _ => Err(format!("`{number}` is no number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_quotes() {
        let found = tokens("a.b>=-1.5e3 and\"x \"\"y\"<>'it''s'").unwrap();
        let expected = [
            Token::Word("a.b".into()),
            Token::Op(Comparison::GtEq),
            Token::Number("-1.5e3".into()),
            Token::Word("and".into()),
            Token::Name("x \"y".into()),
            Token::Op(Comparison::NotEq),
            Token::Text("it's".into()),
        ];
        assert_eq!(found, expected);
        assert!(found[3].is("AND") && !found[0].is("AND"));
    }

    #[test]
    fn what_is_no_word_is_refused() {
        for text in ["a ! 1", "'a", "\"a", "1a", "--1", "a = 1.2.3", "a; b", "a % 2", "-"] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }
}
