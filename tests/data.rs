//! Whole corpora through `data::load`, sound and faulty ones.

use std::fs;
use std::path::{Path, PathBuf};

use ablate::data::{DataError, Dataset, Origin, PairSource, SideReport, load, sample, sources};
use ablate::spec::{Case, Corpus, Data, FilePair, Language};
use tempfile::TempDir;

const LINES: usize = 40;

/// A folder with six small files, and what to ask of it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (first_number, split) in [(0, "train"), (LINES, "dev"), (2 * LINES, "test")] {
            let line = |word: &str, line: usize| format!("{word} train {}\n", first_number + line);
            let lines = |word: &str| (0..LINES).map(|number| line(word, number)).collect::<Vec<_>>().concat();
            folder.write(&format!("{split}.en"), lines("the").as_bytes());
            folder.write(&format!("{split}.de"), lines("der").as_bytes());
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn append(&self, name: &str, text: &str) {
        let old = fs::read_to_string(self.path(name)).unwrap();
        self.write(name, (old + text).as_bytes());
    }

    fn load(&self) -> Result<Dataset, DataError> {
        load(&text_data(), Some(self.0.path()), &self.path("cache"))
    }

    /// The file of the cache whose name begins so.
    fn cached(&self, prefix: &str) -> PathBuf {
        let files = fs::read_dir(self.path("cache")).unwrap().map(|entry| entry.unwrap());
        let mut found = files.filter(|entry| entry.file_name().to_str().unwrap().starts_with(prefix));
        found.next().unwrap().path()
    }
}

fn text_data() -> Data {
    let pair = |split: &str| FilePair {
        source: format!("{split}.en").into(),
        target: format!("{split}.de").into(),
    };
    let corpus = Corpus::Text {
        train: pair("train"),
        dev: pair("dev"),
        test: pair("test"),
    };
    Data {
        corpus,
        vocab_size: 100,
        max_length: 60,
        ..Data::default()
    }
}

fn grammar_data(train_pairs: usize) -> Data {
    Data {
        corpus: Corpus::Grammar { train_pairs },
        vocab_size: 400,
        max_length: 60,
        ..Data::default()
    }
}

#[test]
fn every_sentence_is_decoded_to_its_own_text() {
    let cache = tempfile::tempdir().unwrap();
    let data = load(&grammar_data(5000), None, cache.path()).unwrap();
    assert_eq!((data.ids.dev.len(), data.ids.test.len()), (500, 1000));
    for (index, (source, target)) in data.text.dev.iter().enumerate() {
        let (source_ids, target_ids) = data.ids.dev.pair(index);
        assert_eq!(&data.vocabulary.decode(source_ids).unwrap(), source);
        assert_eq!(&data.vocabulary.decode(target_ids).unwrap(), target);
    }
    assert_eq!(data.report.splits.test.sources_in_training, 0);
    assert_eq!(data.report.splits.test.target.unknown_tokens, 0);
}

#[test]
fn loading_twice_gives_the_same_and_the_second_time_from_the_cache() {
    let cache = tempfile::tempdir().unwrap();
    let first = load(&grammar_data(1000), None, cache.path()).unwrap();
    let second = load(&grammar_data(1000), None, cache.path()).unwrap();
    assert_eq!(first.report.vocabulary, Origin::Made);
    assert_eq!(second.report.vocabulary, Origin::Cached);
    assert_eq!(
        (first.report.training, second.report.training),
        (Origin::Made, Origin::Cached)
    );
    assert_eq!(first.report.splits, second.report.splits);
    assert_eq!((first.ids, first.data_hash), (second.ids, second.data_hash));
    let other = load(&grammar_data(1001), None, cache.path()).unwrap();
    assert_ne!(
        other.data_hash,
        load(&grammar_data(1000), None, cache.path()).unwrap().data_hash
    );
}

#[test]
fn a_damaged_cache_is_noticed_and_repaired() {
    let folder = Folder::new();
    let sound = folder.load().unwrap();
    for (prefix, origin) in [
        ("vocab-", (|data| data.report.vocabulary) as fn(&Dataset) -> Origin),
        ("pairs-", |data| data.report.training),
    ] {
        let file = folder.cached(prefix);
        let content = fs::read(&file).unwrap();
        let flipped = |at: usize| {
            let mut flipped = content.clone();
            flipped[at] ^= 1;
            flipped
        };
        let (middle, end) = (content.len() / 2, content.len() - 1);
        let (at_start, at_middle, at_end) = (flipped(0), flipped(middle), flipped(end));
        for damaged in [
            &content[..middle],
            &at_start,
            &at_middle,
            &at_end,
            b"",
            b"\xff\xfe",
            b"{}",
        ] {
            fs::write(&file, damaged).unwrap();
            let repaired = folder.load().unwrap();
            assert_eq!(origin(&repaired), Origin::Repaired);
            assert_eq!(
                (&repaired.ids, repaired.report.splits),
                (&sound.ids, sound.report.splits.clone())
            );
            assert_eq!(fs::read(&file).unwrap(), content);
        }
    }
}

#[test]
fn two_processes_may_build_the_cache_at_once() {
    let folder = Folder::new();
    let ids = std::thread::scope(|scope| {
        let loads: Vec<_> = (0..4).map(|_| scope.spawn(|| folder.load().unwrap().ids)).collect();
        loads.into_iter().map(|load| load.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(
        fs::read_dir(folder.path("cache")).unwrap().count(),
        2,
        "no temporary file is left behind"
    );
}

#[test]
fn sides_of_different_length_are_an_error_with_both_counts() {
    let folder = Folder::new();
    folder.append("dev.de", "eine zu viel\n");
    let message = folder.load().unwrap_err().to_string();
    assert!(message.contains("dev.en has 40 lines but"), "{message}");
    assert!(
        message.contains("dev.de has 41: they must match line by line"),
        "{message}"
    );
}

#[test]
fn invalid_utf8_is_an_error_with_file_line_and_byte() {
    let folder = Folder::new();
    let mut bytes = fs::read(folder.path("test.de")).unwrap();
    let third_line = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(1)
        .unwrap()
        .0
        + 1;
    bytes[third_line + 4] = 0xC3;
    folder.write("test.de", &bytes);
    let message = folder.load().unwrap_err().to_string();
    assert!(
        message.contains("test.de:3: not UTF-8 at byte 5 of the line"),
        "{message}"
    );
}

#[test]
fn a_missing_file_is_named_with_the_way_to_point_to_it() {
    let folder = Folder::new();
    fs::remove_file(folder.path("dev.en")).unwrap();
    let message = folder.load().unwrap_err().to_string();
    assert!(message.starts_with("dev.en was not found; looked in"), "{message}");
    assert!(message.contains("--data-dir DIR"), "{message}");
}

#[test]
fn oddities_are_counted_and_change_no_text() {
    let folder = Folder::new();
    folder.append("train.en", "a\u{A0}b &quot;c&quot;\r\n\nthe train 0\nthe train 0\n");
    folder.append("train.de", "eins\nzwei\nder train 0\nder train 0\n");
    let with_mark = [b"\xEF\xBB\xBF".as_slice(), &fs::read(folder.path("train.en")).unwrap()].concat();
    folder.write("train.en", &with_mark);
    let data = folder.load().unwrap();
    let train = data.report.splits.train;
    assert_eq!(train.pairs, LINES + 4);
    assert_eq!(train.duplicates, 2);
    assert_eq!(
        (train.source.repairs.byte_order_marks, train.source.repairs.crlf_lines),
        (1, 1)
    );
    assert_eq!(
        (train.source.no_break_space_lines, train.source.html_entity_lines),
        (1, 1)
    );
    assert_eq!((train.source.empty_lines, train.skipped_empty), (1, 1));
    let decoded = |index| data.vocabulary.decode(data.ids.train.pair(index).0).unwrap();
    assert_eq!(decoded(LINES), "a\u{A0}b &quot;c&quot;");
    assert_eq!(decoded(0), "the train 0");
    assert_eq!(data.ids.train.len(), LINES + 3);
}

#[test]
fn overlong_pairs_leave_training_but_never_dev() {
    let folder = Folder::new();
    let long = "the ".repeat(10_000) + "\n";
    for name in ["train.en", "dev.de"] {
        folder.append(name, &long);
    }
    folder.append("train.de", "der\n");
    folder.append("dev.en", "\n");
    let data = folder.load().unwrap();
    assert_eq!(data.report.splits.train.skipped_too_long, 1);
    assert_eq!(data.ids.train.len(), LINES);
    assert_eq!(data.ids.dev.len(), LINES + 1);
    assert!(data.report.splits.dev.target.longest_tokens >= 10_000);
    assert_eq!(data.report.splits.dev.length_ratio_outliers, 1);
}

#[test]
fn characters_that_training_never_showed_are_counted() {
    let folder = Folder::new();
    folder.append("test.en", "жж\n");
    folder.append("test.de", "ж\n");
    let splits = folder.load().unwrap().report.splits;
    assert_eq!(
        (splits.test.source.unknown_tokens, splits.test.target.unknown_tokens),
        (2, 1)
    );
    assert_eq!(splits.dev.source.unknown_tokens, 0);
}

#[test]
fn line_endings_do_not_change_the_data_hash() {
    let folder = Folder::new();
    let hash = folder.load().unwrap().data_hash;
    let text = fs::read_to_string(folder.path("test.en")).unwrap();
    folder.write("test.en", text.replace('\n', "\r\n").as_bytes());
    assert_eq!(folder.load().unwrap().data_hash, hash);
    folder.write("test.en", text.replacen("the", "thy", 1).as_bytes());
    assert_ne!(folder.load().unwrap().data_hash, hash);
}

#[test]
fn a_split_without_pairs_is_an_error() {
    let folder = Folder::new();
    folder.write("dev.en", b"");
    folder.write("dev.de", b"");
    assert!(matches!(folder.load(), Err(DataError::NoPairs { skipped: 0, .. })));
    let folder = Folder::new();
    folder.write("train.en", &b"\n".repeat(LINES));
    assert!(matches!(folder.load(), Err(DataError::NoPairs { skipped: LINES, .. })));
}

#[test]
fn samples_differ_by_seed_and_keep_the_order_of_the_corpus() {
    let sources = sources(&Corpus::Grammar { train_pairs: 1000 }, None).unwrap();
    let draw = |source: &PairSource, count, seed| sample(source, count, seed).unwrap();
    let (all, shown) = (sources.train.collect().unwrap().0, draw(&sources.train, 10, 1));
    assert_eq!(shown.len(), 10);
    let place = |pair| all.iter().position(|other| other == pair).unwrap();
    assert!(shown.windows(2).all(|two| place(&two[0]) < place(&two[1])));
    assert_eq!(shown, draw(&sources.train, 10, 1));
    assert_ne!(shown, draw(&sources.train, 10, 2));
    assert_eq!(draw(&sources.dev, 9999, 1), sources.dev.collect().unwrap().0);
}

#[test]
fn a_lower_cased_vocabulary_reads_capitals_as_small_letters_and_leaves_references_alone() {
    let folder = Folder::new();
    folder.append("train.en", "The ÄÖ\n");
    folder.append("train.de", "Der ÄÖ\n");
    folder.append("dev.en", "THE äö\n");
    folder.append("dev.de", "DER äö\n");
    let data = Data {
        case: Case::Lower,
        ..text_data()
    };
    let data = load(&data, Some(folder.0.path()), &folder.path("cache")).unwrap();
    let (source, target) = data.ids.dev.pair(LINES);
    assert_eq!(data.vocabulary.decode(source).unwrap(), "the äö");
    assert_eq!(data.vocabulary.decode(target).unwrap(), "der äö");
    assert_eq!(data.vocabulary.encode("The ÄÖ").unwrap(), source);
    assert_eq!(data.text.dev[LINES].1, "DER äö");
    let again = ablate::data::Vocabulary::from_json(&data.vocabulary.to_json().unwrap()).unwrap();
    assert_eq!(again.encode("THE ÄÖ").unwrap(), source);
}

#[test]
fn a_vocabulary_of_a_sample_is_another_one_and_knows_the_sample() {
    let folder = Folder::new();
    folder.append("train.en", "zzz zzz zzz\n");
    folder.append("train.de", "zzz zzz zzz\n");
    let sampled = |vocab_pairs| {
        let data = Data {
            vocab_pairs,
            ..text_data()
        };
        load(&data, Some(folder.0.path()), &folder.path("cache")).unwrap()
    };
    let unknown = |vocab_pairs| sampled(vocab_pairs).report.splits.train.source.unknown_tokens;
    assert_eq!((unknown(0), unknown(41)), (0, 0));
    // 21 of 41 pairs: the odd numbers up to 39, without 0, 4, 6 and 8, which occur four times each; and the last pair.
    assert_eq!(unknown(21), 16);
    // All but the first.
    assert_eq!(unknown(40), 0);
}

/// Line counts are those the authors publish; three pairs of the training text stand there twice.
#[test]
fn multi30k_is_read_as_its_authors_count_it() {
    let Some(shared) = std::env::var_os("ABLATE_SHARED") else {
        println!("skipped: ABLATE_SHARED is not set");
        return;
    };
    let corpus = Corpus::Multi30k {
        source: Language::English,
        target: Language::German,
    };
    let cache = tempfile::tempdir().unwrap();
    let data_dir = Path::new(&shared).join("data");
    let data = Data {
        corpus,
        vocab_size: 4000,
        max_length: 100,
        ..Data::default()
    };
    let loaded = load(&data, Some(&data_dir), cache.path()).unwrap();
    let splits = loaded.report.splits;
    assert_eq!(
        [splits.train.pairs, splits.dev.pairs, splits.test.pairs],
        [29_000, 1014, 1000]
    );
    assert_eq!(splits.train.duplicates, 3);
    assert_eq!(loaded.vocabulary.len(), 4000);
    let is_clean = |side: SideReport| side.unknown_tokens == 0 && side.empty_lines == 0;
    assert!(is_clean(splits.train.source) && is_clean(splits.train.target));
    for (index, (_, target)) in loaded.text.test.iter().enumerate() {
        let (_, ids) = loaded.ids.test.pair(index);
        if !ids.contains(&0) {
            assert_eq!(&loaded.vocabulary.decode(ids).unwrap(), target);
        }
    }
}

/// The paper's dev and test sets, with five older test sets to train on.
#[test]
fn newstest2013_and_newstest2014_are_dev_and_test_of_wmt14() {
    let Some(shared) = std::env::var_os("ABLATE_SHARED") else {
        println!("skipped: ABLATE_SHARED is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let published = |name: String| fs::read(Path::new(&shared).join("data/wmt").join(name)).unwrap();
    for language in ["en", "de"] {
        let file = |stem: &str| folder.path().join(format!("{stem}.{language}"));
        let years = (2008..=2012).map(|year| published(format!("newstest{year}.{language}")));
        fs::write(file("train"), years.collect::<Vec<_>>().concat()).unwrap();
        for stem in ["newstest2013", "newstest2014-deen-full3003"] {
            fs::write(file(stem), published(format!("{stem}.{language}"))).unwrap();
        }
    }
    let data = Data {
        corpus: Corpus::Wmt14 {
            source: Language::English,
            target: Language::German,
        },
        vocab_size: 8000,
        max_length: 256,
        ..Data::default()
    };
    let loaded = load(&data, Some(folder.path()), &folder.path().join("cache")).unwrap();
    let splits = &loaded.report.splits;
    assert_eq!(
        [splits.train.pairs, splits.dev.pairs, splits.test.pairs],
        [13_071, 3000, 3003]
    );
    assert_eq!((loaded.text.dev.len(), loaded.ids.test.len()), (3000, 3003));
}
