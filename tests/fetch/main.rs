//! `ablate data fetch` against a server that does everything a server or a line may do, and archives that do everything
//! an archive may.

mod archives;
mod downloads;
mod mirrors;
mod server;
mod stops;
mod texts;
mod unpacking;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ablate::fetch::Digest;
use tempfile::TempDir;

use archives::{Member, tgz};
use server::{End, Reply, Seen, Server};

/// A folder to work in, with a catalogue of one corpus named `small`.
struct Place(TempDir);

/// So patient that a loaded machine never looks like a stalled server.
const PATIENT: &str = "6";

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path("data/small").join(name)
    }

    fn download(&self, name: &str) -> PathBuf {
        self.path("data/downloads").join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        fs::write(&path, bytes).expect("a writable folder");
        path
    }

    /// A catalogue with these archives and files, as they stand in TOML.
    fn catalog(&self, archives: &str, files: &str) {
        let text =
            format!("[small]\ntitle = \"Small\"\nfolder = \"small\"\narchives = [\n{archives}]\nfiles = [\n{files}]\n");
        self.write("catalog.toml", text.as_bytes());
    }

    /// A catalogue with the archive of [`small()`] on this server.
    fn small(&self, server: &Server, archive: &[u8]) {
        let url = server.url("small.tgz");
        let (bytes, sha256) = (archive.len(), self.sha256(archive));
        self.catalog(
            &format!("{{ url = \"{url}\", bytes = {bytes}, sha256 = \"{sha256}\" }},\n"),
            TRAIN,
        );
    }

    fn sha256(&self, bytes: &[u8]) -> String {
        let path = self.write("hashed", bytes);
        Digest::of_file(&path).expect("a readable file").to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ablate"));
        command.args(["data", "fetch", "small", "--catalog", "catalog.toml"]);
        command.args(arguments).current_dir(self.0.path());
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        command.env_remove("ABLATE_DATA_DIR").env("NO_COLOR", "1");
        command
    }

    fn fetch(&self) -> Output {
        self.fetch_with(&["--timeout", PATIENT])
    }

    fn fetch_with(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Fails unless the files of [`small()`] are there, alone, and whole.
    fn assert_small(&self) {
        assert_eq!(fs::read(self.file("train.en")).expect("a file"), english());
        assert_eq!(fs::read(self.file("train.de")).expect("a file"), german());
        assert_eq!(
            names(&self.path("data/small")),
            ["fetched.toml", "train.de", "train.en"]
        );
    }

    /// Fails unless nothing has the name of a finished file.
    fn assert_nothing_finished(&self) {
        assert_eq!(names(&self.path("data/small")), [""; 0]);
    }
}

/// The files of a corpus of two members.
const TRAIN: &str = r#"
    { name = "train.en", parts = [{ archive = "small.tgz", member = "text/train.en" }] },
    { name = "train.de", parts = [{ archive = "small.tgz", member = "text/train.de" }] },
"#;

/// Numbers that a compressor makes little of, so that the archive has many blocks.
fn lines(word: &str) -> Vec<u8> {
    let mut state: u64 = word.len() as u64;
    let mut line = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        format!("{word} {:016x}\n", state ^ (state >> 31))
    };
    let lines: Vec<_> = (0..6000).map(|_| line()).collect();
    lines.concat().into_bytes()
}

fn english() -> Vec<u8> {
    lines("the")
}

fn german() -> Vec<u8> {
    lines("die da")
}

/// An archive of some 100 kilobytes.
fn small() -> Vec<u8> {
    tgz(&[
        Member::file("text/train.de", &german()),
        Member::file("text/readme", b"nothing"),
        Member::file("text/train.en", &english()),
    ])
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string().expect("UTF-8");
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Fails with what the program said unless it ended with `code`.
fn assert_exit(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", said(output));
}

/// Fails unless the program ended with `code` and said all of this.
fn assert_told(output: &Output, code: i32, told: &[&str]) {
    assert_exit(output, code);
    for text in told {
        assert!(said(output).contains(text), "`{text}` is not in\n{}", said(output));
    }
}

fn starts(server: &Server) -> Vec<Option<usize>> {
    server.seen().iter().map(|seen| seen.start).collect()
}
