//! The two kinds of substitution that the mteval tokenisers are made of, as single passes over the characters.

use std::ops::Range;

/// The one of two neighbouring characters that becomes a token.
#[derive(Clone, Copy)]
pub(super) enum Detached {
    First,
    Second,
}

/// `s/([class])/ \1 /g`
pub(super) fn detach_each(line: &str, class: impl Fn(char) -> bool) -> String {
    let mut out = Spaced::new(line);
    for (at, c) in line.char_indices() {
        if class(c) {
            out.detach(at..at + c.len_utf8());
        }
    }
    out.finish()
}

/// `s/([first])([second])/ \1 \2/g`, or with `\1 \2 ` where the second is detached.
///
/// As in any global substitution, a character that one match has used is not seen by the next.
pub(super) fn detach_pairs(
    line: &str,
    first: impl Fn(char) -> bool,
    second: impl Fn(char) -> bool,
    detached: Detached,
) -> String {
    let mut out = Spaced::new(line);
    let mut unused = None;
    for (at, b) in line.char_indices() {
        match unused {
            Some(a) if second(b) && first(a) => {
                out.detach(match detached {
                    Detached::First => at - a.len_utf8()..at,
                    Detached::Second => at..at + b.len_utf8(),
                });
                unused = None;
            }
            _ => unused = Some(b),
        }
    }
    out.finish()
}

/// A copy of a line with spaces around some of its characters.
struct Spaced<'a> {
    line: &'a str,
    copied: usize,
    out: String,
}

impl<'a> Spaced<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            line,
            copied: 0,
            out: String::with_capacity(line.len() + line.len() / 4),
        }
    }

    fn detach(&mut self, character: Range<usize>) {
        self.out.push_str(&self.line[self.copied..character.start]);
        self.out.push(' ');
        self.out.push_str(&self.line[character.clone()]);
        self.out.push(' ');
        self.copied = character.end;
    }

    fn finish(mut self) -> String {
        self.out.push_str(&self.line[self.copied..]);
        self.out
    }
}
