//! The rules of the house, each over the text of one file.

use crate::circles::module_of;
use crate::paths::paths;
use crate::tokens::{Located, Token, tokens};

/// Every room, and the rooms that it may import. Each list is as short as the code allows.
pub const ROOMS: [(&str, &[&str]); 24] = [
    ("durable", &[]),
    ("clock", &[]),
    ("random", &[]),
    ("threads", &[]),
    ("lock", &["clock"]),
    ("spec", &[]),
    ("plan", &["spec"]),
    ("codegen", &["plan", "spec"]),
    ("ops", &["random", "spec", "threads"]),
    ("model", &["ops", "plan", "random", "spec", "threads"]),
    ("generated", &["model", "ops", "plan"]),
    ("grammar", &["random", "spec"]),
    ("fetch", &["durable", "lock"]),
    (
        "data",
        &["durable", "grammar", "model", "ops", "plan", "random", "spec"],
    ),
    ("train", &["model", "ops", "plan", "random", "spec", "threads"]),
    ("decode", &["model", "ops", "spec", "threads"]),
    ("score", &[]),
    ("record", &["durable", "score", "spec"]),
    ("results", &["durable", "plan", "record", "spec"]),
    (
        "run",
        &[
            "clock",
            "data",
            "decode",
            "durable",
            "generated",
            "lock",
            "model",
            "ops",
            "plan",
            "record",
            "score",
            "spec",
            "threads",
            "train",
        ],
    ),
    (
        "selftest",
        &[
            "decode", "model", "ops", "plan", "random", "record", "run", "spec", "threads",
        ],
    ),
    ("sweep", &["lock", "plan", "record", "run"]),
    ("report", &["results", "spec"]),
    (
        "cli",
        &[
            "data", "decode", "durable", "fetch", "lock", "model", "ops", "plan", "record", "report", "results", "run",
            "score", "selftest", "spec", "sweep", "threads",
        ],
    ),
];

const LONGEST_FILE_LINES: usize = 400;
const HOMES_OF_UNSAFE: [&str; 2] = ["ops/cpu/", "ops/cuda/"];
const PRINTS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// What a file breaks, a line each; `path` is relative to `src`, with `/` between its parts.
pub fn broken_rules(path: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let of_text = length(path, source).into_iter().chain(door(path, source));
    let of_code = [borders(path, &tokens), unsafety(path, &tokens), prints(path, &tokens)];
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

fn borders(path: &str, tokens: &[Located]) -> Vec<String> {
    if joins_rooms(path) {
        return Vec::new();
    }
    let room = room_of(path);
    let Some(allowed) = allowed_to(room) else {
        return vec![format!("{path}: `{room}` is no room of the house")];
    };
    let mut broken = Vec::new();
    for (line, other) in rooms_named(path, tokens) {
        if allowed_to(&other).is_none() {
            broken.push(format!("{path}:{line}: `crate::{other}` is no room of the house"));
        } else if other != room && !allowed.contains(&other.as_str()) {
            broken.push(format!("{path}:{line}: `{room}` may not import `{other}`"));
        }
    }
    broken
}

/// The rooms that a room may import; none for what is no room.
pub fn allowed_to(room: &str) -> Option<&'static [&'static str]> {
    ROOMS
        .iter()
        .find(|(name, _)| *name == room)
        .map(|(_, allowed)| *allowed)
}

/// The first name of every path of a file, with its line; the root itself is named `self`.
pub fn rooms_named(path: &str, tokens: &[Located]) -> Vec<(usize, String)> {
    let first = |names: Vec<String>| names.into_iter().next().unwrap_or_else(|| "self".to_owned());
    let found = paths(tokens, &module_of(path)).into_iter();
    found.map(|named| (named.line, first(named.path))).collect()
}

/// Rooms that import each other, directly or around a longer circle.
pub fn rooms_in_circles<'r>(rooms: &[(&'r str, &[&str])]) -> Vec<&'r str> {
    let mut left = rooms.to_vec();
    loop {
        let names: Vec<&str> = left.iter().map(|(room, _)| *room).collect();
        left.retain(|(_, allowed)| allowed.iter().any(|other| names.contains(other)));
        if left.len() == names.len() {
            return names;
        }
    }
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
