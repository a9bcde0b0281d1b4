//! A corpus from its catalogue entry to its files.

use std::fs;
use std::path::Path;

use super::archives::Archives;
use super::digest::Digest;
use super::entry::{Archive, Corpus, TextEntry};
use super::error::{Difference, FetchError, Measured};
use super::manifest::{FileRecord, Manifest};
use super::request::{Event, Report, Request};
use super::text_file::{Finished, TextFile};
use super::unpack::with_member;
use crate::durable;

/// Makes the files of a corpus in its folder, and downloads only the archives of missing files.
///
/// After a kill at any moment, the same call continues: a file gets its name only when it is whole.
///
/// # Errors
/// If an archive is not available or not the right one, or the file system refuses. Finished files stay.
pub fn fetch(request: &Request, report: &mut Report) -> Result<(), FetchError> {
    let folder = request.data_dir.join(&request.corpus.folder);
    fs::create_dir_all(&folder).map_err(FetchError::io(&folder))?;
    let mut archives = Archives::open(request)?;
    durable::remove_leftovers(&folder).map_err(FetchError::io(&folder))?;
    let mut manifest = Manifest::read(&folder)?;
    for group in request.corpus.groups() {
        let missing = missing(&group, &folder, &manifest, report)?;
        if missing.is_empty() {
            continue;
        }
        let group = Group {
            corpus: request.corpus,
            files: &missing,
            folder: &folder,
            manifest: &manifest,
        };
        let finished = group.make(&mut archives, report)?;
        publish(finished, &mut manifest, report)?;
    }
    Ok(())
}

fn missing<'a>(
    group: &[&'a TextEntry],
    folder: &Path,
    manifest: &Manifest,
    report: &mut Report,
) -> Result<Vec<&'a TextEntry>, FetchError> {
    let mut missing = Vec::new();
    for &entry in group {
        let file = folder.join(&entry.name);
        if is_present(entry, &file, manifest)? {
            report(Event::Present { file });
        } else {
            missing.push(entry);
        }
    }
    Ok(missing)
}

/// Whether a file is there and right.
fn is_present(file: &TextEntry, path: &Path, manifest: &Manifest) -> Result<bool, FetchError> {
    if !path.try_exists().map_err(FetchError::io(path))? {
        return Ok(false);
    }
    let known = file.sha256.or(manifest.get(&file.name).map(|record| record.sha256));
    let found = Digest::of_file(path).map_err(FetchError::io(path))?;
    if known == Some(found) {
        Ok(true)
    } else {
        Err(FetchError::Foreign { path: path.to_owned() })
    }
}

/// Whole files that have no names yet, with their records.
type Made = Vec<(Finished, FileRecord)>;

fn publish(finished: Made, manifest: &mut Manifest, report: &mut Report) -> Result<(), FetchError> {
    for (file, record) in finished {
        let path = file.path.clone();
        let name = path.file_name().expect("a file of a folder").to_string_lossy();
        let lines = record.lines;
        manifest.add(&name, record)?;
        file.publish()?;
        report(Event::Made { file: path, lines });
    }
    Ok(())
}

/// Files that match line by line, as far as they are missing.
struct Group<'a> {
    corpus: &'a Corpus,
    files: &'a [&'a TextEntry],
    folder: &'a Path,
    manifest: &'a Manifest,
}

impl Group<'_> {
    /// Makes all files. If they show that a download was bad, it is downloaded once more.
    fn make(&self, archives: &mut Archives, report: &mut Report) -> Result<Made, FetchError> {
        match self.make_once(archives, report) {
            Err(error) if error.is_of_content() && self.discard_bad(archives)? => {
                report(Event::Note(format!("{error}; downloading it once more")));
                let second = self.make_once(archives, report);
                if second.as_ref().is_err_and(FetchError::is_of_content) {
                    self.discard_bad(archives)?;
                }
                second
            }
            result => result,
        }
    }

    fn needed(&self) -> Vec<&Archive> {
        self.corpus.archives_of(self.files)
    }

    /// Discards downloads that may be bad; returns whether there was any.
    fn discard_bad(&self, archives: &mut Archives) -> Result<bool, FetchError> {
        let mut is_any = false;
        for archive in self.needed() {
            if archives.may_be_bad(archive) {
                archives.discard(archive)?;
                is_any = true;
            }
        }
        Ok(is_any)
    }

    fn make_once(&self, archives: &mut Archives, report: &mut Report) -> Result<Made, FetchError> {
        // All archives come before the first is unpacked, so that a missing one is reported early.
        for archive in self.needed() {
            archives.get(archive, report)?;
        }
        let mut made = Vec::new();
        for &file in self.files {
            report(Event::Making {
                file: self.folder.join(&file.name),
            });
            let finished = self.make_file(file, archives, report)?;
            check(file, &finished)?;
            made.push((finished, file));
        }
        self.check_lines(&made)?;
        let with_record = |(finished, file): (Finished, &TextEntry)| {
            let record = self.record(&finished, file);
            (finished, record)
        };
        Ok(made.into_iter().map(with_record).collect())
    }

    fn make_file(
        &self,
        file: &TextEntry,
        archives: &mut Archives,
        report: &mut Report,
    ) -> Result<Finished, FetchError> {
        let mut text = TextFile::begin(&self.folder.join(&file.name), file.selection)?;
        for part in &file.parts {
            let archive = self.corpus.archives.iter().find(|archive| archive.name == part.archive);
            let path = archives.get(archive.expect("checked with the catalogue"), report)?;
            with_member(&path, part.member.as_deref(), |content| {
                text.append(content, part.format, &path)
            })?;
        }
        text.finish()
    }

    /// Against one another, and against those of the group that are there already.
    fn check_lines(&self, made: &[(Finished, &TextEntry)]) -> Result<(), FetchError> {
        let (first, entry) = &made[0];
        let is_of_group = |file: &&TextEntry| file.stem() == entry.stem();
        let present = self.corpus.files.iter().filter(is_of_group).filter_map(|file| {
            let record = self.manifest.get(&file.name)?;
            let path = self.folder.join(&file.name);
            path.is_file().then_some((path, record.lines))
        });
        let others = made.iter().map(|(file, _)| (file.path.clone(), file.lines));
        match others.chain(present).find(|(_, lines)| *lines != first.lines) {
            Some(other) => Err(FetchError::LineCounts {
                one: (first.path.clone(), first.lines),
                other,
            }),
            None => Ok(()),
        }
    }

    fn record(&self, finished: &Finished, file: &TextEntry) -> FileRecord {
        let archives = self.corpus.archives_of(&[file]);
        FileRecord {
            lines: finished.lines,
            bytes: finished.bytes,
            sha256: finished.sha256,
            archives: archives.into_iter().map(|archive| archive.url.clone()).collect(),
        }
    }
}

/// Compares a file with what the catalogue says of it.
fn check(file: &TextEntry, finished: &Finished) -> Result<(), FetchError> {
    let wrong = |found, expected| {
        Err(FetchError::WrongText {
            file: finished.path.clone(),
            difference: Box::new(Difference { found, expected }),
        })
    };
    match (file.lines, file.sha256) {
        (Some(lines), _) if lines != finished.lines => wrong(Measured::Lines(finished.lines), Measured::Lines(lines)),
        (_, Some(sha256)) if sha256 != finished.sha256 => {
            wrong(Measured::Sha256(finished.sha256), Measured::Sha256(sha256))
        }
        _ => Ok(()),
    }
}
