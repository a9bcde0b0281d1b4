//! Catalogues of corpora: the one that is built in, and those that users write. Everything that a later step relies on
//! is checked here, above all that no name leads out of the data folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use serde::Deserialize;

use super::digest::Digest;
use super::entry::{Archive, Corpus, Part, Selection, TextEntry};
use super::error::FetchError;

const BUILT_IN: &str = include_str!("corpora.toml");

/// Corpora by name.
#[derive(Debug)]
pub struct Catalog {
    corpora: BTreeMap<String, Corpus>,
}

impl Catalog {
    /// The corpora that the program knows.
    #[must_use]
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("the built-in catalogue is tested")
    }

    /// Reads a catalogue that the user wrote.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is wrong.
    pub fn read(path: &Path) -> Result<Self, FetchError> {
        let text = fs::read_to_string(path).map_err(FetchError::io(path))?;
        Self::parse(&text).map_err(|what| FetchError::Catalog {
            path: path.to_owned(),
            what,
        })
    }

    /// # Errors
    /// If there is no corpus of that name.
    pub fn corpus(&self, name: &str) -> Result<&Corpus, FetchError> {
        self.corpora.get(name).ok_or_else(|| FetchError::UnknownCorpus {
            name: name.to_owned(),
            known: self.corpora.keys().cloned().collect(),
        })
    }

    pub fn corpora(&self) -> impl Iterator<Item = &Corpus> {
        self.corpora.values()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let raw: BTreeMap<String, RawCorpus> =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let check = |(name, raw): (String, RawCorpus)| {
            let corpus = raw.check(&name).map_err(|what| format!("corpus `{name}`: {what}"))?;
            Ok((name, corpus))
        };
        let corpora = raw.into_iter().map(check).collect::<Result<_, String>>()?;
        let catalog = Self { corpora };
        catalog.check_shared_names()?;
        Ok(catalog)
    }

    /// Corpora share archives by name.
    fn check_shared_names(&self) -> Result<(), String> {
        let mut urls = BTreeMap::new();
        for archive in self.corpora().flat_map(|corpus| &corpus.archives) {
            let known = *urls.entry(&archive.name).or_insert(&archive.url);
            if *known != archive.url {
                let name = &archive.name;
                return Err(format!(
                    "two archives are named `{name}`: {known} and {}; give one another `name`",
                    archive.url
                ));
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCorpus {
    title: String,
    folder: String,
    #[serde(default)]
    note: String,
    archives: Vec<RawArchive>,
    files: Vec<RawFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawArchive {
    url: String,
    name: Option<String>,
    bytes: Option<u64>,
    sha256: Option<Digest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    name: String,
    parts: Vec<Part>,
    every: Option<u64>,
    all_but_every: Option<u64>,
    lines: Option<u64>,
    sha256: Option<Digest>,
}

impl RawCorpus {
    fn check(self, name: &str) -> Result<Corpus, String> {
        let is_inside = |component| matches!(component, Component::Normal(_));
        if self.folder.is_empty() || !Path::new(&self.folder).components().all(is_inside) {
            return Err(format!("folder `{}` is not a path below the data folder", self.folder));
        }
        let archives = self.archives.into_iter().map(RawArchive::check);
        let archives = archives.collect::<Result<Vec<_>, _>>()?;
        let files = self.files.into_iter().map(|file| file.check(&archives));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        differ(archives.iter().map(|archive| &archive.name))?;
        differ(files.iter().map(|file| &file.name))?;
        Ok(Corpus {
            name: name.to_owned(),
            title: self.title,
            folder: self.folder.into(),
            note: self.note,
            archives,
            files,
        })
    }
}

impl RawArchive {
    fn check(self) -> Result<Archive, String> {
        if !self.url.starts_with("https://") && !self.url.starts_with("http://") {
            return Err(format!(
                "`{}` is not a URL that begins with https:// or http://",
                self.url
            ));
        }
        let last = self.url.rsplit('/').next().unwrap_or_default();
        let name = self.name.unwrap_or_else(|| last.to_owned());
        check_file_name(&name)?;
        Ok(Archive {
            name,
            url: self.url,
            bytes: self.bytes,
            sha256: self.sha256,
        })
    }
}

impl RawFile {
    fn check(self, archives: &[Archive]) -> Result<TextEntry, String> {
        check_file_name(&self.name)?;
        let selection = match (self.every, self.all_but_every) {
            (None, None) => Selection::All,
            (Some(n), None) if n > 1 => Selection::Every(n),
            (None, Some(n)) if n > 1 => Selection::AllBut(n),
            (Some(_), Some(_)) => return Err(format!("`{}` has both every and all_but_every", self.name)),
            _ => return Err(format!("`{}` takes every line or none: give 2 or more", self.name)),
        };
        if self.parts.is_empty() {
            return Err(format!("`{}` has no parts", self.name));
        }
        self.parts.iter().try_for_each(|part| check_archive(part, archives))?;
        Ok(TextEntry {
            name: self.name,
            parts: self.parts,
            selection,
            lines: self.lines,
            sha256: self.sha256,
        })
    }
}

fn check_archive(part: &Part, archives: &[Archive]) -> Result<(), String> {
    let names: Vec<_> = archives.iter().map(|archive| archive.name.as_str()).collect();
    if names.contains(&part.archive.as_str()) {
        return Ok(());
    }
    let (archive, names) = (&part.archive, names.join(", "));
    Err(format!("there is no archive `{archive}`; there are: {names}"))
}

/// A name that stays in its folder on every system, and that no file of ours beside it has.
fn check_file_name(name: &str) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_plain) {
        return Err(format!(
            "`{name}` is not a plain file name: letters, digits and . _ - + are allowed, and no dot in front"
        ));
    }
    Ok(())
}

fn differ<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("`{name}` appears twice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [small]
        title = "t"
        folder = "small/deep"
        archives = [{ url = "https://example.org/a.tgz" }]
        files = [{ name = "train.en", parts = [{ archive = "a.tgz", member = "a/train.en" }] }]
    "#;

    #[test]
    fn the_built_in_catalogue_is_valid_and_holds_what_the_program_names() {
        let catalog = Catalog::built_in();
        let names: Vec<_> = catalog.corpora().map(|corpus| corpus.name.as_str()).collect();
        assert_eq!(names, ["iwslt14", "multi30k", "wmt14-en-de", "wmt14-en-fr"]);
        for corpus in catalog.corpora() {
            for group in corpus.groups() {
                assert!(group.len() > 1, "{}: {} has no other side", corpus.name, group[0].name);
            }
            assert!(
                corpus
                    .archives
                    .iter()
                    .all(|archive| archive.url.starts_with("https://"))
            );
        }
    }

    #[test]
    fn a_name_may_not_lead_out_of_its_folder() {
        Catalog::parse(GOOD).unwrap();
        for (from, to) in [
            ("small/deep", "../small"),
            ("small/deep", "/tmp"),
            ("small/deep", ""),
            ("\"train.en\"", "\"../train.en\""),
            ("\"train.en\"", "\"/train.en\""),
            ("\"train.en\"", "\".lock\""),
            ("\"train.en\"", "\"\""),
            ("a.tgz\" }]", "a.tgz\", name = \"b/../a.tgz\" }]"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let fault = Catalog::parse(&GOOD.replace(from, to)).unwrap_err();
            assert!(fault.starts_with("corpus `small`: "), "{to}: {fault}");
        }
    }

    #[test]
    fn mistakes_name_what_was_found_and_what_is_allowed() {
        for (from, to, told) in [
            ("title", "titel", "unknown field `titel`"),
            ("https://example.org", "ftp://example.org", "https:// or http://"),
            ("archive = \"a.tgz\"", "archive = \"b.tgz\"", "there are: a.tgz"),
            ("a.tgz\" }]", "a.tgz\", sha256 = \"12\" }]", "64 digits"),
            ("\"train.en\", parts", "\"train.en\", every = 1, parts", "2 or more"),
            (
                "[{ archive",
                "[{ format = \"xml\", archive",
                "`lines`, `segments`, `talks`",
            ),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let fault = Catalog::parse(&GOOD.replace(from, to)).unwrap_err();
            assert!(fault.contains(told), "{to}: {fault}");
        }
    }

    #[test]
    fn one_name_may_not_stand_for_two_archives() {
        let other = GOOD.replace("[small]", "[other]").replace("example.org", "example.com");
        let fault = Catalog::parse(&format!("{GOOD}{other}")).unwrap_err();
        assert!(fault.contains("two archives are named `a.tgz`"), "{fault}");
        let same = GOOD.replace("[small]", "[other]");
        Catalog::parse(&format!("{GOOD}{same}")).unwrap();
    }
}
