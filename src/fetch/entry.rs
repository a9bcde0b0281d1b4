//! Entries of a catalogue: corpora, archives and text files.

use std::path::PathBuf;

use serde::Deserialize;

use super::digest::Digest;

/// A corpus: archives that are downloaded, and the text files that are made of them.
#[derive(Debug, Clone)]
pub struct Corpus {
    pub name: String,
    pub title: String,
    /// Path below the data folder.
    pub folder: PathBuf,
    /// Advice on how to use the files.
    pub note: String,
    pub archives: Vec<Archive>,
    pub files: Vec<TextEntry>,
}

#[derive(Debug, Clone)]
pub struct Archive {
    /// Name of the file, here and in a mirror.
    pub name: String,
    pub url: String,
    pub bytes: Option<u64>,
    pub sha256: Option<Digest>,
}

/// One text file, a sentence per line.
#[derive(Debug, Clone)]
pub struct TextEntry {
    pub name: String,
    /// Parts, joined in this order.
    pub parts: Vec<Part>,
    pub selection: Selection,
    pub lines: Option<u64>,
    pub sha256: Option<Digest>,
}

impl TextEntry {
    /// `train` of `train.en`: the files with one stem must match line by line.
    pub(super) fn stem(&self) -> &str {
        self.name.rsplit_once('.').map_or(&self.name, |(stem, _)| stem)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// An archive's name.
    pub archive: String,
    /// Path in a tar archive; none if the archive is one compressed file.
    pub member: Option<String>,
    #[serde(default)]
    pub format: Format,
}

/// Format of the sentences in a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One per line, taken as they are.
    #[default]
    Lines,
    /// `<seg id="1">..</seg>`, as in the SGML and XML of shared tasks. White space is collapsed, and entities stay as
    /// they are, as in sacreBLEU.
    Segments,
    /// One per line, between lines of tags about talks. Titles and descriptions are kept, without their tags.
    Talks,
}

/// The lines that a file takes of all its parts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    All,
    /// Lines n, 2n, 3n and so on.
    Every(u64),
    /// All others.
    AllBut(u64),
}

impl Selection {
    /// Whether the file takes this line; the first is 1.
    pub(super) fn takes(self, line: u64) -> bool {
        match self {
            Self::All => true,
            Self::Every(n) => line.is_multiple_of(n),
            Self::AllBut(n) => !line.is_multiple_of(n),
        }
    }
}

impl Corpus {
    /// The archives that are needed for these files.
    pub(super) fn archives_of(&self, files: &[&TextEntry]) -> Vec<&Archive> {
        let is_needed = |archive: &&Archive| {
            let mut parts = files.iter().flat_map(|file| &file.parts);
            parts.any(|part| part.archive == archive.name)
        };
        self.archives.iter().filter(is_needed).collect()
    }

    /// Whether the hashes of all files that are made of an archive are known. They then show whether the archive is right,
    /// and its own hash is not needed.
    #[must_use]
    pub fn files_vouch_for(&self, archive: &Archive) -> bool {
        let is_of = |file: &&TextEntry| file.parts.iter().any(|part| part.archive == archive.name);
        self.files.iter().filter(is_of).all(|file| file.sha256.is_some())
    }

    /// The files with one stem, in order.
    pub(super) fn groups(&self) -> Vec<Vec<&TextEntry>> {
        let mut groups: Vec<Vec<&TextEntry>> = Vec::new();
        for file in &self.files {
            match groups.iter_mut().find(|group| group[0].stem() == file.stem()) {
                Some(group) => group.push(file),
                None => groups.push(vec![file]),
            }
        }
        groups
    }
}
