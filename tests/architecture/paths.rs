//! The paths in a file's code, led back to the root of the library, however they are written.

use crate::tokens::{Located, Token};

/// A path in code, or one of those that a `use` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub line: usize,
    /// From the root of the library: `["spec", "Suite"]`. A glob ends in `*`. A path that starts with any other name is
    /// taken for one that starts in the file's own module, where it leads nowhere if it belongs to another crate.
    pub path: Vec<String>,
    /// The name that a `use` gives it in this file.
    pub binds: Option<String>,
    /// Whether the `use` passes it on, as `pub use` does.
    pub is_shared: bool,
}

/// All paths in the code of the file that holds `module`, given from the root of the library.
pub fn paths(tokens: &[Located], module: &[String]) -> Vec<Named> {
    let mut reader = Reader {
        tokens,
        scope: module.to_vec(),
        inline: Vec::new(),
        braces: 0,
        found: Vec::new(),
    };
    let mut at = 0;
    while at < tokens.len() {
        at = reader.step(at);
    }
    reader.found
}

struct Reader<'t> {
    tokens: &'t [Located],
    /// The module around the token that was stepped to last.
    scope: Vec<String>,
    /// How many braces were open outside of each `mod x { .. }`.
    inline: Vec<usize>,
    braces: usize,
    found: Vec<Named>,
}

impl Reader<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn are_colons(&self, at: usize) -> bool {
        self.is(at, ":") && self.is(at + 1, ":")
    }

    fn word(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.token {
            Token::Word(word) => Some(word),
            Token::Text(_) | Token::Mark(_) => None,
        }
    }

    /// Reads what begins at `at`, and returns where the next begins.
    fn step(&mut self, at: usize) -> usize {
        if self.is(at, "{") {
            if at >= 2 && self.is(at - 2, "mod") {
                self.scope.extend(self.word(at - 1).map(str::to_owned));
                self.inline.push(self.braces);
            }
            self.braces += 1;
        } else if self.is(at, "}") {
            self.braces = self.braces.saturating_sub(1);
            if self.inline.pop_if(|outside| *outside == self.braces).is_some() {
                self.scope.pop();
            }
        } else if self.is(at, "use") {
            let is_shared = at > 0 && (self.is(at - 1, "pub") || self.is(at - 1, ")"));
            return self.tree(at + 1, None, Some(is_shared));
        } else if self.word(at).is_some() && self.are_colons(at + 1) {
            return self.tree(at, None, None);
        }
        at + 1
    }

    /// Reads a path or the group that follows `before`, and returns where it ends. `declared` is what a `use` knows:
    /// whether it passes on what it names.
    fn tree(&mut self, start: usize, before: Option<Vec<String>>, declared: Option<bool>) -> usize {
        let (mut at, mut path) = (start, before);
        loop {
            if self.is(at, "{") && declared.is_some() {
                return self.group(at + 1, path.as_deref(), declared);
            }
            let glob = self.is(at, "*").then_some("*");
            let Some(name) = self.word(at).or(glob).map(str::to_owned) else {
                break;
            };
            path = Some(self.longer(path, name));
            at += 1;
            if !self.are_colons(at) {
                break;
            }
            at += 2;
        }
        let Some(path) = path else { return at.max(start + 1) };
        let renamed = self.is(at, "as") && declared.is_some();
        let name = if renamed {
            self.word(at + 1)
        } else {
            path.last().map(String::as_str)
        };
        let named = Named {
            line: self.tokens[start].line,
            binds: declared.and(name.map(str::to_owned)),
            path,
            is_shared: declared == Some(true),
        };
        self.found.push(named);
        if renamed { at + 2 } else { at }
    }

    /// Every item of `{a, b::{c, d}}`, whose opening brace is behind us.
    fn group(&mut self, start: usize, before: Option<&[String]>, declared: Option<bool>) -> usize {
        let mut at = start;
        while at < self.tokens.len() && !self.is(at, "}") {
            at = if self.is(at, ",") {
                at + 1
            } else {
                self.tree(at, before.map(<[_]>::to_vec), declared)
            };
        }
        at + 1
    }

    /// `path` and one more name. The first name is looked up: it may be a way to the root.
    fn longer(&self, path: Option<Vec<String>>, name: String) -> Vec<String> {
        match (path, name.as_str()) {
            (Some(path), "self") => path,
            (Some(mut path), "super") => {
                path.pop();
                path
            }
            (Some(path), _) => [path, vec![name]].concat(),
            (None, "crate") => Vec::new(),
            (None, "self") => self.scope.clone(),
            (None, "super") => self.scope[..self.scope.len().saturating_sub(1)].to_vec(),
            (None, _) => {
                let file = self.scope.len() - self.inline.len();
                [&self.scope[..file], &[name]].concat()
            }
        }
    }
}
