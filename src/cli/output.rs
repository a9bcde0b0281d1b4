//! Standard output, whose reader may leave early: `ablate plan | head` is no error.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::process::exit;

/// Writes a text as it is.
pub fn put(text: impl Display) {
    let mut stdout = std::io::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(0),
        Err(error) => {
            eprintln!("error: standard output: {error}");
            exit(6)
        }
    }
}

/// Writes a text and ends the line.
pub fn put_line(text: impl Display) {
    put(format_args!("{text}\n"));
}
