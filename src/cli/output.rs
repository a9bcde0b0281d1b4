//! Standard output and standard error, whose readers may leave early: `ablate plan | head` is no error, and a dead `tee` no
//! reason to lose a run; and files that a command is to write.

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
            tell(format_args!("error: standard output: {error}"));
            exit(6)
        }
    }
}

/// Writes a text and ends the line.
pub fn put_line(text: impl Display) {
    put(format_args!("{text}\n"));
}

/// Says something on standard error, and ends the line. Where nobody can hear it, nothing else is to be done about that.
pub fn tell(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// As [`tell`], of what is odd but no error.
pub fn warn(text: impl Display) {
    tell(format_args!("warning: {text}"));
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
