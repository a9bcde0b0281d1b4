//! Paths of the six files of a parallel corpus.

use std::path::{Path, PathBuf};

use super::error::DataError;
use super::splits::Splits;
use crate::spec::{Corpus, FilePair};

/// Whether the files of a corpus are there; the built-in one always is.
///
/// # Errors
/// The first file that is in none of the folders tried.
pub fn check_files(corpus: &Corpus, data_dir: Option<&Path>) -> Result<(), DataError> {
    match corpus {
        Corpus::Grammar { .. } => Ok(()),
        Corpus::Multi30k { source, target } => multi30k(data_dir, source.name(), target.name()).map(drop),
        Corpus::Wmt14 { source, target } => wmt14(data_dir, source.name(), target.name()).map(drop),
        Corpus::Text { train, dev, test } => text(data_dir, &Splits { train, dev, test }).map(drop),
    }
}

/// Default folder of corpora.
pub const DEFAULT_FOLDER: &str = "data";

/// Names that a file may have, preferred first.
type Names = Vec<PathBuf>;

/// Multi30k task 1, as its authors name the files.
pub fn multi30k(data_dir: Option<&Path>, source: &str, target: &str) -> Result<Splits<FilePair>, DataError> {
    let name = |stem: &'static str| move |language: &str| vec![PathBuf::from(format!("{stem}.{language}"))];
    let names = Splits {
        train: name("train"),
        dev: name("val"),
        test: name("test_2016_flickr"),
    };
    locate(
        &folders(data_dir, &["multi30k", ""]),
        &names.map(|name| (name(source), name(target))),
        Some("multi30k"),
    )
}

/// WMT 2014: newstest2013 and newstest2014, the latter also under the name of its full release.
pub fn wmt14(data_dir: Option<&Path>, source: &str, target: &str) -> Result<Splits<FilePair>, DataError> {
    let stems: Splits<&[&str]> = Splits {
        train: &["train"],
        dev: &["newstest2013"],
        test: &["newstest2014", "newstest2014-deen-full3003"],
    };
    let names = |stems: &[&str], language: &str| {
        stems
            .iter()
            .map(|stem| PathBuf::from(format!("{stem}.{language}")))
            .collect::<Names>()
    };
    let names = stems.map(|stems| (names(stems, source), names(stems, target)));
    let folders = folders(data_dir, &["wmt14-en-de", "wmt", ""]);
    locate(&folders, &names, Some("wmt14-en-de"))
}

/// Files named by the user, relative to the data folder.
pub fn text(data_dir: Option<&Path>, files: &Splits<&FilePair>) -> Result<Splits<FilePair>, DataError> {
    let names = files.map(|pair| (vec![pair.source.clone()], vec![pair.target.clone()]));
    locate(&folders(data_dir, &[""]), &names, None)
}

fn folders(data_dir: Option<&Path>, subfolders: &[&str]) -> Vec<PathBuf> {
    let data_dir = data_dir.unwrap_or(Path::new(DEFAULT_FOLDER));
    subfolders.iter().map(|subfolder| data_dir.join(subfolder)).collect()
}

/// All six from the first folder that has the training source, so that two corpora are never mixed.
/// `corpus` is the name under which it can be downloaded.
fn locate(
    folders: &[PathBuf],
    names: &Splits<(Names, Names)>,
    corpus: Option<&'static str>,
) -> Result<Splits<FilePair>, DataError> {
    let has_training = |folder: &&PathBuf| find(std::slice::from_ref(*folder), &names.train.0).is_some();
    let chosen = folders.iter().find(has_training).map_or(folders, std::slice::from_ref);
    let found = |names: &Names| -> Result<_, DataError> {
        find(chosen, names).ok_or_else(|| DataError::Missing {
            file: names[0].clone(),
            tried: chosen.to_vec(),
            corpus,
        })
    };
    let pair = |(source, target): &(Names, Names)| -> Result<_, DataError> {
        Ok(FilePair {
            source: found(source)?,
            target: found(target)?,
        })
    };
    Ok(Splits {
        train: pair(&names.train)?,
        dev: pair(&names.dev)?,
        test: pair(&names.test)?,
    })
}

fn find(folders: &[PathBuf], names: &Names) -> Option<PathBuf> {
    let candidates = folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    candidates.into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_missing_file_names_the_folders_tried_and_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let message = multi30k(Some(folder.path()), "en", "de").unwrap_err().to_string();
        assert!(message.starts_with("train.en was not found; looked in "), "{message}");
        assert!(
            message.contains("`ablate data fetch multi30k`") && message.contains("--data-dir DIR"),
            "{message}"
        );
    }

    #[test]
    fn the_full_release_of_newstest2014_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("wmt");
        fs::create_dir(&inside).unwrap();
        for stem in ["train", "newstest2013", "newstest2014-deen-full3003"] {
            fs::write(inside.join(format!("{stem}.en")), "").unwrap();
            fs::write(inside.join(format!("{stem}.de")), "").unwrap();
        }
        let files = wmt14(Some(folder.path()), "en", "de").unwrap();
        assert_eq!(files.test.target, inside.join("newstest2014-deen-full3003.de"));
    }

    #[test]
    fn files_of_two_folders_are_never_mixed() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("multi30k");
        fs::create_dir(&inside).unwrap();
        fs::write(inside.join("train.en"), "").unwrap();
        fs::write(folder.path().join("train.de"), "").unwrap();
        let error = multi30k(Some(folder.path()), "en", "de").unwrap_err();
        assert!(
            matches!(&error, DataError::Missing { tried, .. } if *tried == [inside]),
            "{error}"
        );
    }
}
