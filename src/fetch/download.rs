//! One archive from a server into its `.part`, however often the connection breaks.

use std::thread::sleep;

use ureq::BodyReader;

use super::entry::Archive;
use super::error::{FetchError, Measured};
use super::http::{Answer, Client, Problem, Version, read_block};
use super::part::PartFile;
use super::patience::Patience;
use super::request::{Event, Report};

const BLOCK_BYTES: usize = 1 << 16;

/// Number of tries if the server has never answered: it may not exist, or the network may be down.
const TRIES_IN_SILENCE: u32 = 3;

pub struct Download<'a> {
    pub client: &'a Client,
    pub archive: &'a Archive,
    pub url: &'a str,
    pub patience: Patience,
    pub report: &'a mut Report<'a>,
}

/// Reason why a try did not bring the whole file.
enum Failed {
    Problem(Problem),
    Error(FetchError),
}

impl From<FetchError> for Failed {
    fn from(error: FetchError) -> Self {
        Self::Error(error)
    }
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Download<'_> {
    /// Tries until the part is whole.
    ///
    /// # Errors
    /// If too many tries in a row brought no new byte, the server refuses for good, or what it offers has not the
    /// length of the archive.
    pub fn run(&mut self, part: &mut PartFile) -> Result<(), FetchError> {
        let mut furthest = part.length();
        let mut failures = 0;
        let mut most_tries = self.patience.tries.min(TRIES_IN_SILENCE);
        loop {
            let problem = match self.attempt(part) {
                Ok(()) => return Ok(()),
                Err(Failed::Error(error)) => return Err(error),
                Err(Failed::Problem(problem)) => problem,
            };
            failures = if part.length() > furthest { 1 } else { failures + 1 };
            furthest = furthest.max(part.length());
            let why = match problem {
                Problem::Lasting(why) => return Err(self.unreachable(why, failures)),
                Problem::Silence(why) => why,
                Problem::Passing(why) => {
                    most_tries = self.patience.tries;
                    why
                }
            };
            if failures >= most_tries {
                return Err(self.unreachable(why, failures));
            }
            self.wait(why, failures);
        }
    }

    fn wait(&mut self, why: String, failures: u32) {
        let pause = self.patience.pause(failures);
        (self.report)(Event::Retrying {
            archive: self.archive.name.clone(),
            why,
            pause,
        });
        sleep(pause);
    }

    fn unreachable(&self, why: String, tries: u32) -> FetchError {
        FetchError::Unreachable {
            url: self.url.to_owned(),
            tries,
            why,
        }
    }

    /// One request, which goes on where the part ends.
    fn attempt(&mut self, part: &mut PartFile) -> Result<(), Failed> {
        let known = part.version();
        match self.client.get(self.url, part.length(), known.validator.as_deref())? {
            Answer::Whole(version, body) => {
                self.check_total(version.total)?;
                part.begin(version)?;
                self.copy(body, part)
            }
            Answer::Rest { start, version, body } => {
                if start != part.length() || !is_same(&known, &version) {
                    return Err(start_over(part)?.into());
                }
                self.check_total(version.total)?;
                self.copy(body, part)
            }
            Answer::NothingMore(version) if version.total == Some(part.length()) && is_same(&known, &version) => Ok(()),
            Answer::NothingMore(_) => Err(start_over(part)?.into()),
        }
    }

    fn copy(&mut self, mut body: BodyReader<'static>, part: &mut PartFile) -> Result<(), Failed> {
        let mut block = vec![0; BLOCK_BYTES];
        let total = part.version().total;
        loop {
            self.tell(part, total);
            let length = read_block(&mut body, &mut block).map_err(|error| self.client.problem_of_body(&error))?;
            if length == 0 {
                break;
            }
            part.append(&block[..length])?;
            self.check_length(part)?;
        }
        match total {
            Some(total) if total != part.length() => {
                let why = format!("the connection ended after {} of {total} bytes", part.length());
                Err(Problem::Passing(why).into())
            }
            _ => Ok(()),
        }
    }

    fn tell(&mut self, part: &PartFile, total: Option<u64>) {
        (self.report)(Event::Downloading {
            archive: self.archive.name.clone(),
            done: part.length(),
            total: total.or(self.archive.bytes),
        });
    }

    /// Refuses a wrong length before gigabytes are downloaded.
    fn check_total(&self, total: Option<u64>) -> Result<(), FetchError> {
        match (total, self.archive.bytes) {
            (Some(found), Some(expected)) if found != expected => Err(self.wrong_length(found, expected)),
            _ => Ok(()),
        }
    }

    /// Refuses a wrong length of an answer that does not announce it.
    fn check_length(&self, part: &PartFile) -> Result<(), FetchError> {
        match self.archive.bytes {
            Some(expected) if part.length() > expected => Err(self.wrong_length(part.length(), expected)),
            _ => Ok(()),
        }
    }

    fn wrong_length(&self, found: u64, expected: u64) -> FetchError {
        FetchError::mismatch(self.url, Measured::Bytes(found), Measured::Bytes(expected), None)
    }
}

/// Whether two versions may be one: what both tell is the same.
fn is_same(known: &Version, found: &Version) -> bool {
    let agree = |one: Option<&str>, other: Option<&str>| one.zip(other).is_none_or(|(one, other)| one == other);
    known.total.zip(found.total).is_none_or(|(one, other)| one == other)
        && agree(known.validator.as_deref(), found.validator.as_deref())
}

fn start_over(part: &mut PartFile) -> Result<Problem, FetchError> {
    part.clear()?;
    Ok(Problem::Passing("the file on the server has changed".to_owned()))
}
