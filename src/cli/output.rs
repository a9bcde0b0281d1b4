//! Standard output, whose reader may leave early: `ablate plan | head` is no error; and files that a command is to write.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::exit;

use serde::Serialize;

use super::failure::Failure;

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

/// A value as one line of JSON.
pub fn write_json_line(file: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, value)?;
    file.write_all(b"\n")
}

/// Whether a file can be there, asked before the work whose result it is to hold. Devices are refused: a whole file would
/// take their place.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    if path.exists() && !path.is_file() {
        return Err(Failure::Io(format!("{} is there and is no file", path.display())));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(Failure::Io(format!(
            "{}: there is no folder {}",
            path.display(),
            folder.display()
        ))),
        None => Ok(()),
    }
}
