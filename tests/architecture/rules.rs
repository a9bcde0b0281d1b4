//! The rules of the house, each over the text of one file.

use crate::paths::names_at_root;
use crate::tokens::{Located, Token, tokens};

/// The rooms in the order in which data walks through them. A room imports only rooms before it.
pub const ROOMS: [&str; 24] = [
    "durable",
    "clock",
    "random",
    "threads",
    "lock",
    "spec",
    "plan",
    "codegen",
    "ops",
    "model",
    "generated",
    "grammar",
    "fetch",
    "data",
    "train",
    "decode",
    "score",
    "record",
    "results",
    "run",
    "selftest",
    "sweep",
    "report",
    "cli",
];

const LONGEST_FILE_LINES: usize = 400;
const HOMES_OF_UNSAFE: [&str; 2] = ["ops/cpu/", "ops/cuda/"];
const PRINTS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// What a file breaks, a line each; `path` is relative to `src`, with `/` between its parts.
pub fn broken_rules(path: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let of_text = length(path, source).into_iter().chain(door(path, source));
    let of_code = [order(path, &tokens), unsafety(path, &tokens), prints(path, &tokens)];
    of_text.chain(of_code.concat()).collect()
}

/// `spec` of `spec/keys/mod.rs`, `generated` of `generated.rs`.
pub fn room_of(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The files that join the rooms belong to none.
pub fn joins_rooms(path: &str) -> bool {
    ["lib.rs", "main.rs", "build.rs"].contains(&path)
}

fn length(path: &str, source: &str) -> Option<String> {
    let lines = source.lines().count();
    (lines > LONGEST_FILE_LINES).then(|| format!("{path}: {lines} lines, more than {LONGEST_FILE_LINES}"))
}

fn door(path: &str, source: &str) -> Option<String> {
    let is_door = !joins_rooms(path) && (path.ends_with("/mod.rs") || !path.contains('/'));
    (is_door && !source.starts_with("//!")).then(|| format!("{path}:1: does not open with what the module is for"))
}

fn order(path: &str, tokens: &[Located]) -> Vec<String> {
    if joins_rooms(path) {
        return Vec::new();
    }
    let room = room_of(path);
    let position = |name: &str| ROOMS.iter().position(|room| *room == name);
    let Some(own) = position(room) else {
        return vec![format!("{path}: `{room}` is no room of the house")];
    };
    let mut broken = Vec::new();
    for (line, name) in names_at_root(tokens, module_depth(path)) {
        let name = name.to_string();
        match position(&name) {
            Some(other) if other <= own => {}
            Some(_) => broken.push(format!("{path}:{line}: `{room}` comes before `{name}` and names it")),
            None => broken.push(format!("{path}:{line}: `crate::{name}` is no room of the house")),
        }
    }
    broken
}

fn module_depth(path: &str) -> usize {
    let parts = path.split('/').count();
    if path.ends_with("/mod.rs") { parts - 1 } else { parts }
}

fn unsafety(path: &str, tokens: &[Located]) -> Vec<String> {
    if HOMES_OF_UNSAFE.iter().any(|home| path.starts_with(home)) {
        return Vec::new();
    }
    let found = tokens.iter().filter(|token| token.is("unsafe"));
    found
        .map(|token| {
            format!(
                "{path}:{}: `unsafe` outside {}",
                token.line,
                HOMES_OF_UNSAFE.join(" and ")
            )
        })
        .collect()
}

/// Printing is for `cli`, and even there these panic where nobody reads any more: `cli::output` has what does not. The
/// build script talks to cargo.
fn prints(path: &str, tokens: &[Located]) -> Vec<String> {
    let mut broken = Vec::new();
    for at in 1..tokens.len() {
        let name = &tokens[at - 1];
        if !tokens[at].is("!") || !PRINTS.iter().any(|print| name.is(print)) {
            continue;
        }
        let speaks_to_cargo = path == "build.rs" && speaks_to_cargo(&tokens[at + 1..]);
        if !speaks_to_cargo || name.is("dbg") {
            broken.push(format!(
                "{path}:{}: `{name}!`, which panics where nobody reads; cli::output does not",
                name.line
            ));
        }
    }
    broken
}

/// The arguments of a print that is a line for cargo.
fn speaks_to_cargo(arguments: &[Located]) -> bool {
    matches!(arguments, [_, Located { token: Token::Text(text), .. }, ..] if text.starts_with("cargo::"))
}
