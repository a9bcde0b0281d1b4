//! Positions in a text, as a reader counts them and as a renderer needs them.

use std::fmt;
use std::ops::Range;

/// A position in a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Path under which the text was read.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted in characters, from 1.
    pub column: usize,
    /// Counted in bytes, from 0.
    pub span: Range<usize>,
}

impl Place {
    /// Returns the start of a file, for faults about something that is absent.
    #[must_use]
    pub fn start_of(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: 1,
            column: 1,
            span: 0..0,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A text and the path it was read from.
#[derive(Debug)]
pub(super) struct Source {
    pub path: String,
    pub text: String,
}

impl Source {
    /// Turns a byte range into a place.
    pub fn place(&self, span: Range<usize>) -> Place {
        let before = &self.text[..self.text.floor_char_boundary(span.start)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            file: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span,
        }
    }

    /// Returns the text there, shortened to one short line.
    pub fn excerpt(&self, span: Range<usize>) -> String {
        const LONGEST: usize = 40;
        let written = self.text.get(span).unwrap_or_default();
        let line = written.lines().next().unwrap_or_default();
        let short: String = line.chars().take(LONGEST).collect();
        if short.len() < written.len() {
            short + ".."
        } else {
            short
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_spans_count_bytes() {
        let source = Source {
            path: "x.toml".into(),
            text: "a = 1\nü = 'ö', z\n".into(),
        };
        let z = source.text.find('z').unwrap();
        let place = source.place(z..z + 1);
        assert_eq!(place.to_string(), "x.toml:2:10");
        assert_eq!(place.span, 17..18);
    }

    #[test]
    fn an_excerpt_stays_on_one_line() {
        let source = Source {
            path: "x.toml".into(),
            text: "[1,\n2]".into(),
        };
        assert_eq!(source.excerpt(0..6), "[1,..");
        assert_eq!(source.excerpt(0..2), "[1");
    }
}
