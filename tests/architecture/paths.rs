//! Which rooms a file of the library names, whatever the path is written like.

use crate::tokens::Located;

/// Every name that follows the root of the library, with its line: `crate::x`, `crate::{x, y::{..}}`, and
/// `super::x` where `super` is the root. A glob is named `*`, the root under another name `as`.
///
/// `depth` is the number of modules that the file lies in: 1 for `spec/mod.rs`, 2 for `spec/value.rs`.
pub fn names_at_root(tokens: &[Located], depth: usize) -> Vec<(usize, &Located)> {
    let mut names = Vec::new();
    let mut modules = InlineModules::default();
    for at in 0..tokens.len() {
        modules.step(tokens, at);
        let root_ends_at = if tokens[at].is("crate") {
            Some(at + 1)
        } else {
            end_of_climb(tokens, at).filter(|&end| climbed(at, end) == depth + modules.open_at.len())
        };
        if let Some(end) = root_ends_at {
            let after = names_after(&tokens[end..]);
            names.extend(after.into_iter().map(|name| (tokens[at].line, name)));
        }
    }
    names
}

/// `mod x { .. }` around the token that was stepped to last.
#[derive(Default)]
struct InlineModules {
    braces: usize,
    /// How many braces were open outside of each module.
    open_at: Vec<usize>,
}

impl InlineModules {
    fn step(&mut self, tokens: &[Located], at: usize) {
        if tokens[at].is("{") {
            if at >= 2 && tokens[at - 2].is("mod") {
                self.open_at.push(self.braces);
            }
            self.braces += 1;
        } else if tokens[at].is("}") {
            self.braces = self.braces.saturating_sub(1);
            self.open_at.pop_if(|outside| *outside == self.braces);
        }
    }
}

/// Where `super::super` ends that starts at `at`.
fn end_of_climb(tokens: &[Located], at: usize) -> Option<usize> {
    let continues = at >= 3 && tokens[at - 3].is("super") && are_colons(&tokens[at - 2..at]);
    if continues || !tokens[at].is("super") {
        return None;
    }
    let mut end = at + 1;
    while are_colons(&tokens[end..]) && tokens.get(end + 2).is_some_and(|token| token.is("super")) {
        end += 3;
    }
    Some(end)
}

/// `super`, and three tokens for every further `::super`.
fn climbed(start: usize, end: usize) -> usize {
    (end - start).div_ceil(3)
}

fn are_colons(tokens: &[Located]) -> bool {
    matches!(tokens, [first, second, ..] if first.is(":") && second.is(":"))
}

/// The names after a root: one after `::`, each of a group, none after `pub(crate)`.
fn names_after(tokens: &[Located]) -> Vec<&Located> {
    match tokens {
        [alias, ..] if alias.is("as") => vec![alias],
        [_, _, open, group @ ..] if are_colons(tokens) && open.is("{") => heads_of_group(group),
        [_, _, name, ..] if are_colons(tokens) => vec![name],
        _ => Vec::new(),
    }
}

/// The first token of every item of `{a, b::{c, d}}`, whose opening brace is behind us.
fn heads_of_group(tokens: &[Located]) -> Vec<&Located> {
    let (mut heads, mut open, mut at_head) = (Vec::new(), 1, true);
    for token in tokens {
        if token.is("}") {
            open -= 1;
            if open == 0 {
                break;
            }
        } else if token.is("{") {
            open += 1;
        } else if token.is(",") && open == 1 {
            at_head = true;
        } else if at_head {
            heads.push(token);
            at_head = false;
        }
    }
    heads
}
