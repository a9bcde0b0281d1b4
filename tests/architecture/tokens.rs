//! Rust source as tokens: enough to tell code from comments and text, and to follow paths.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// An identifier, a keyword or a number.
    Word(String),
    /// What stands between the quotes of a string, escapes as written.
    Text(String),
    /// One character of punctuation: `::` is two of them.
    Mark(char),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The first line is 1.
    pub line: usize,
    pub token: Token,
}

impl Located {
    pub fn is(&self, text: &str) -> bool {
        match &self.token {
            Token::Word(word) => word == text,
            Token::Mark(mark) => text.chars().eq([*mark]),
            Token::Text(_) => false,
        }
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.token {
            Token::Word(word) => f.write_str(word),
            Token::Mark(mark) => mark.fmt(f),
            Token::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

/// All tokens but comments, lifetimes and single characters, none of which a rule asks for.
pub fn tokens(source: &str) -> Vec<Located> {
    Scanner { rest: source, line: 1 }.collect()
}

struct Scanner<'s> {
    rest: &'s str,
    line: usize,
}

impl Iterator for Scanner<'_> {
    type Item = Located;

    fn next(&mut self) -> Option<Located> {
        loop {
            let line = self.line;
            let first = self.rest.chars().next()?;
            let token = match first {
                '/' if self.rest.starts_with("//") => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
                '/' if self.rest.starts_with("/*") => self.skip(self.block_comment()),
                '\'' => self.skip(self.character_or_lifetime()),
                '"' => Some(self.text()),
                _ if is_word(first) => self.word(),
                _ if first.is_whitespace() => self.skip(first.len_utf8()),
                _ => {
                    self.take(first.len_utf8());
                    Some(Token::Mark(first))
                }
            };
            if let Some(token) = token {
                return Some(Located { line, token });
            }
        }
    }
}

impl<'s> Scanner<'s> {
    fn take(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn skip(&mut self, bytes: usize) -> Option<Token> {
        self.take(bytes);
        None
    }

    /// How long the comment is that begins here; comments nest.
    fn block_comment(&self) -> usize {
        let (mut at, mut open) = (2, 1);
        while open > 0 {
            let Some(found) = self.rest[at..].find(['/', '*']) else {
                return self.rest.len();
            };
            at += found;
            let step = match self.rest[at..].get(..2) {
                Some("/*") => 1,
                Some("*/") => -1,
                _ => 0,
            };
            open += step;
            at += if step == 0 { 1 } else { 2 };
        }
        at
    }

    fn text(&mut self) -> Token {
        self.take(1);
        let text = self.take(end_of_quoted(self.rest, '"'));
        self.take(self.rest.len().min(1));
        Token::Text(text.to_owned())
    }

    fn raw_text(&mut self, hashes: usize) -> Token {
        self.take(hashes + 1);
        let close = format!("\"{}", "#".repeat(hashes));
        let text = self.take(self.rest.find(&close).unwrap_or(self.rest.len()));
        self.take(self.rest.len().min(close.len()));
        Token::Text(text.to_owned())
    }

    /// How long it is: `'a'`, `'\n'` and `'_'` are characters, `'a` and `'_` lifetimes.
    fn character_or_lifetime(&self) -> usize {
        let inside = &self.rest[1..];
        let mut following = inside.chars();
        let (first, second) = (following.next(), following.next());
        if first == Some('\\') || second == Some('\'') {
            self.rest.len().min(end_of_quoted(inside, '\'') + 2)
        } else {
            1 + inside.find(|c| !is_word(c)).unwrap_or(inside.len())
        }
    }

    /// A word, or what its letters are the prefix of: `r"..."`, `b'a'`, `r#type`.
    fn word(&mut self) -> Option<Token> {
        let word = self.take(self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len()));
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        let quoted = self.rest[hashes..].starts_with('"');
        match word {
            "r" | "br" | "cr" if quoted => Some(self.raw_text(hashes)),
            "b" | "c" if quoted && hashes == 0 => Some(self.text()),
            "b" if self.rest.starts_with('\'') => self.skip(self.character_or_lifetime()),
            "r" if hashes == 1 => {
                self.take(1);
                self.word()
            }
            _ => Some(Token::Word(word.to_owned())),
        }
    }
}

/// Where the next quote that no backslash escapes stands.
fn end_of_quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = text.find(|c| {
        let found = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        found
    });
    end.unwrap_or(text.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(source: &str) -> Vec<(usize, String)> {
    let word = |located: Located| match located.token {
        Token::Word(word) => Some((located.line, word)),
        Token::Text(_) | Token::Mark(_) => None,
    };
    tokens(source).into_iter().filter_map(word).collect()
}

fn texts(source: &str) -> Vec<String> {
    let text = |located: Located| match located.token {
        Token::Text(text) => Some(text),
        Token::Word(_) | Token::Mark(_) => None,
    };
    tokens(source).into_iter().filter_map(text).collect()
}

#[test]
fn comments_hold_no_code_however_they_nest() {
    let source = "a // b\n/* c /* d */ \" e */ f /// g\n//! h \"\ni";
    assert_eq!(words(source), [(1, "a".into()), (2, "f".into()), (4, "i".into())]);
}

#[test]
fn strings_hold_no_code_however_they_are_quoted() {
    let source = r###"a("b \" // c \\"); d(r#"e " f"#, br"g\", b"h", c"i"); j(r##"k "# l"##); m"###;
    let found: Vec<_> = words(source).into_iter().map(|(_, word)| word).collect();
    assert_eq!(found, ["a", "d", "j", "m"]);
    assert_eq!(
        texts(source),
        [r#"b \" // c \\"#, r#"e " f"#, r"g\", "h", "i", r##"k "# l"##]
    );
}

#[test]
fn a_quote_may_begin_a_character_or_a_lifetime() {
    let source = r"a<'b, '_>('c', '\'', '\\', b'd', '\u{e9}', '_', '/', '{', 'outer: f)";
    let found: Vec<_> = words(source).into_iter().map(|(_, word)| word).collect();
    assert_eq!(found, ["a", "f"]);
    assert!(!tokens(source).iter().any(|token| token.is("{")));
}

#[test]
fn a_raw_identifier_is_the_word_behind_its_mark() {
    assert_eq!(words("r#unsafe r"), [(1, "unsafe".into()), (1, "r".into())]);
}

#[test]
fn a_string_of_several_lines_moves_the_line_of_what_follows() {
    assert_eq!(words("\"one\ntwo\"\nthree"), [(3, "three".into())]);
}

#[test]
fn source_that_breaks_off_is_read_to_its_end() {
    for source in ["\"a", "r#\"a", "/* a", "'", "'\\", "b'", "\"a\\", "r#", "// a"] {
        let found: Vec<_> = words(source).into_iter().filter(|(_, word)| word == "a").collect();
        assert_eq!(found, [], "{source}");
    }
}
