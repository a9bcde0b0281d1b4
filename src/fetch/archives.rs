//! The archives of a corpus: from a mirror folder, from the downloads of before, or from a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::download::Download;
use super::entry::Archive;
use super::error::{FetchError, Measured};
use super::http::Client;
use super::part::{PartFile, remove};
use super::request::{Event, Report, Request};
use super::source::Source;
use super::trust::{Trust, record, record_path};
use crate::durable;
use crate::lock::{Lock, LockError};

/// Folder of archives below the data folder. Corpora share it.
pub const DOWNLOADS: &str = "downloads";

pub struct Archives<'a> {
    request: &'a Request<'a>,
    folder: PathBuf,
    client: Client,
    ready: BTreeMap<String, PathBuf>,
    _lock: Lock,
}

impl<'a> Archives<'a> {
    /// Locks the folder of downloads, which is made if need be.
    pub fn open(request: &'a Request<'a>) -> Result<Self, FetchError> {
        let folder = request.data_dir.join(DOWNLOADS);
        fs::create_dir_all(&folder).map_err(FetchError::io(&folder))?;
        let lock = lock(&folder)?;
        durable::remove_leftovers(&folder).map_err(FetchError::io(&folder))?;
        Ok(Self {
            request,
            folder,
            client: Client::new(request.patience.timeout),
            ready: BTreeMap::new(),
            _lock: lock,
        })
    }

    /// Returns the path of the archive, verified as far as possible.
    pub fn get(&mut self, archive: &Archive, report: &mut Report) -> Result<PathBuf, FetchError> {
        if let Some(path) = self.ready.get(&archive.name) {
            return Ok(path.clone());
        }
        let path = match Source::of(archive, self.request.mirror) {
            Source::File(path) => self.check_file(archive, path, report)?,
            Source::Url(url) => self.obtain(archive, &url, report)?,
        };
        self.ready.insert(archive.name.clone(), path.clone());
        Ok(path)
    }

    /// Whether another download could be better than this one: it came from a server, and only the files made of it
    /// tell whether it is right.
    pub fn may_be_bad(&self, archive: &Archive) -> bool {
        let is_download = matches!(Source::of(archive, self.request.mirror), Source::Url(_));
        is_download && archive.sha256.is_none()
    }

    /// Removes an archive, and its hash from first use, which is the hash of a bad file.
    pub fn discard(&mut self, archive: &Archive) -> Result<(), FetchError> {
        self.ready.remove(&archive.name);
        remove(&record_path(archive, &self.folder))?;
        remove(&self.folder.join(&archive.name))
    }

    fn check_file(&self, archive: &Archive, path: PathBuf, report: &mut Report) -> Result<PathBuf, FetchError> {
        if !path.is_file() {
            return Err(FetchError::NotInMirror { path });
        }
        let url = path.display().to_string();
        self.verify(archive, &path, &url, report)?;
        Ok(path)
    }

    /// From the downloads of before, or from a server. A download that is wrong may be the fault of the line, so there
    /// is a second one; two are not.
    fn obtain(&self, archive: &Archive, url: &str, report: &mut Report) -> Result<PathBuf, FetchError> {
        let path = self.folder.join(&archive.name);
        if path.is_file() {
            match self.verify(archive, &path, url, report) {
                Err(error @ FetchError::Mismatch { .. }) => {
                    report(Event::Note(format!("{error}; downloading it again")));
                    remove(&path)?;
                }
                result => return result.map(|()| path),
            }
        }
        let first = self.download(archive, url, &path, report);
        let result = match first {
            Err(error @ FetchError::Mismatch { .. }) => {
                report(Event::Note(format!("{error}; downloading it once more")));
                self.download(archive, url, &path, report)
            }
            result => result,
        };
        result.map(|()| path)
    }

    /// Downloads an archive. It gets its name only when it is verified.
    fn download(&self, archive: &Archive, url: &str, path: &Path, report: &mut Report) -> Result<(), FetchError> {
        let mut part = PartFile::open(path, url)?;
        let mut download = Download {
            client: &self.client,
            archive,
            url,
            patience: self.request.patience,
            report: &mut *report,
        };
        let result = download.run(&mut part);
        match result.and_then(|()| self.verify(archive, part.path(), url, report)) {
            Ok(()) => part.finish(path),
            Err(error @ FetchError::Mismatch { .. }) => {
                part.discard()?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Compares size and hash with what is known, and records the hash if nothing is.
    fn verify(&self, archive: &Archive, path: &Path, url: &str, report: &mut Report) -> Result<(), FetchError> {
        let io = FetchError::io(path);
        let bytes = fs::metadata(path).map_err(&io)?.len();
        if let Some(expected) = archive.bytes.filter(|expected| *expected != bytes) {
            let [found, expected] = [bytes, expected].map(Measured::Bytes);
            return Err(FetchError::mismatch(url, found, expected, None));
        }
        let do_files_vouch = self.request.corpus.files_vouch_for(archive);
        let trust = Trust::in_archive(archive, do_files_vouch, &self.folder)?;
        if trust == Trust::ByItsFiles {
            return Ok(());
        }
        report(Event::Verifying {
            archive: archive.name.clone(),
        });
        let found = Digest::of_file(path).map_err(&io)?;
        let (expected, known_from) = match trust {
            Trust::Known(expected) => (expected, None),
            Trust::Recorded(expected, record) => (expected, Some(record)),
            Trust::ByItsFiles => return Ok(()),
            Trust::FirstUse(path) => {
                report(Event::Note(first_use(archive, found, &path)));
                return record(&path, found, &archive.name);
            }
        };
        if expected == found {
            return Ok(());
        }
        let [found, expected] = [found, expected].map(Measured::Sha256);
        Err(FetchError::mismatch(url, found, expected, known_from))
    }
}

fn first_use(archive: &Archive, found: Digest, record: &Path) -> String {
    format!(
        "no SHA-256 of {} is known: this download is trusted. Its SHA-256 is {found}; {} keeps it, and later downloads must \
         have the same",
        archive.name,
        record.display()
    )
}

fn lock(folder: &Path) -> Result<Lock, FetchError> {
    Lock::take(&folder.join(".lock")).map_err(|error| match error {
        LockError::Io { path, source } => FetchError::io(&path)(source),
        held @ LockError::Held { .. } => FetchError::Busy(held),
    })
}
