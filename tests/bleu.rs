//! BLEU against sacreBLEU 2.6.0: `tests/golden/bleu/make.py` made every expected number and says how.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use ablate::score::{
    Bleu, BleuConfig, Case, SacrebleuJson, ScoreError, Smoothing, Statistics, Tokenizer, bleu_from_statistics,
    corpus_bleu, sentence_statistics, split_lines, standard_configs,
};
use proptest::prelude::*;

const TOLERANCE: f64 = 1e-9;

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/bleu")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Rows of a golden table, each as column name -> cell.
fn rows(table: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    lines
        .map(|line| columns.iter().copied().zip(line.split('\t')).collect())
        .collect()
}

fn four<T: std::str::FromStr>(cell: &str) -> [T; 4] {
    let numbers: Vec<T> = cell.split(',').filter_map(|number| number.parse().ok()).collect();
    numbers
        .try_into()
        .unwrap_or_else(|_| panic!("four numbers, not {cell:?}"))
}

fn config(row: &BTreeMap<&str, &str>) -> BleuConfig {
    let tokenizer = match row["tok"] {
        "13a" => Tokenizer::Mteval13a,
        "none" => Tokenizer::None,
        "intl" => Tokenizer::International,
        "char" => Tokenizer::Character,
        "13a+compound-split" => Tokenizer::CompoundSplit13a,
        other => panic!("tokenizer {other}"),
    };
    let value = || row["value"].parse().expect("a smoothing value");
    let smoothing = match row.get("smooth").copied() {
        None | Some("exp") => Smoothing::Exponential,
        Some("none") => Smoothing::None,
        Some("floor") => Smoothing::Floor(value()),
        Some("add-k") => Smoothing::AddK(value()),
        Some(other) => panic!("smoothing {other}"),
    };
    BleuConfig {
        tokenizer,
        case: if row["case"] == "lc" { Case::Lower } else { Case::Mixed },
        smoothing,
    }
}

#[track_caller]
fn assert_is(bleu: &Bleu, row: &BTreeMap<&str, &str>) {
    let close = |a: f64, b: f64| (a - b).abs() <= TOLERANCE;
    let expected_score: f64 = row["score"].parse().expect("a score");
    assert!(
        close(bleu.score, expected_score),
        "{} is not {expected_score}: {row:?}",
        bleu.score
    );
    for (ours, expected) in bleu.precisions.into_iter().zip(four::<f64>(row["precisions"])) {
        assert!(close(ours, expected), "precision {ours} is not {expected}: {row:?}");
    }
    assert!(
        close(bleu.brevity_penalty, row["bp"].parse().expect("a brevity penalty")),
        "{row:?}"
    );
    assert_eq!(bleu.counts, four::<u64>(row["counts"]), "{row:?}");
    assert_eq!(bleu.totals, four::<u64>(row["totals"]), "{row:?}");
    assert_eq!(bleu.hypothesis_length.to_string(), row["hyp_len"], "{row:?}");
    assert_eq!(bleu.reference_length.to_string(), row["ref_len"], "{row:?}");
    let ours = concat!("version:ablate-", env!("CARGO_PKG_VERSION"));
    assert_eq!(bleu.signature, row["signature"].replace("version:2.6.0", ours));
    assert_eq!(bleu.to_string(), row["line"]);
}

/// Hypotheses and two streams of references.
fn corpora() -> BTreeMap<String, [Vec<String>; 3]> {
    let sentences: BTreeMap<String, Vec<[String; 3]>> =
        serde_json::from_str(&golden("sentences.json")).expect("triples of sentences");
    let stream = |triples: &[[String; 3]], i: usize| triples.iter().map(|triple| triple[i].clone()).collect();
    sentences
        .into_iter()
        .map(|(name, triples)| (name, [0, 1, 2].map(|i| stream(&triples, i))))
        .collect()
}

#[test]
fn every_tokenizer_case_and_smoothing_scores_as_in_sacrebleu() {
    let corpora = corpora();
    let table = golden("scores.tsv");
    let rows = rows(&table);
    for row in &rows {
        let [hypotheses, first, second] = &corpora[row["corpus"]];
        let references: &[&[String]] = if row["signature"].starts_with("nrefs:1|") {
            &[first]
        } else {
            &[first, second]
        };
        assert_is(
            &corpus_bleu(hypotheses, references, &config(row)).expect("a score"),
            row,
        );
    }
    assert_eq!(rows.len(), 264);
}

#[test]
fn every_sentence_counts_as_in_sacrebleu() {
    let [hypotheses, first, second] = &corpora()["mixed"];
    let table = golden("sentences.tsv");
    let rows = rows(&table);
    for row in &rows {
        let at: usize = row["line"].parse().expect("a line number");
        let expected = Statistics {
            hypothesis_length: row["hyp_len"].parse().expect("a length"),
            reference_length: row["ref_len"].parse().expect("a length"),
            counts: four(row["counts"]),
            totals: four(row["totals"]),
        };
        let line = at..=at;
        let ours = sentence_statistics(
            &hypotheses[line.clone()],
            &[&first[line.clone()], &second[line.clone()]],
            &config(row),
        );
        assert_eq!(ours, Ok(vec![expected]), "{row:?}: {:?}", hypotheses[at]);
    }
    assert_eq!(rows.len(), 470);
}

#[test]
fn eight_systems_of_wmt17_score_as_in_sacrebleu() {
    let Some(shared) = std::env::var_os("ABLATE_SHARED") else {
        // Not `println!`, which the test harness hides when a test passes.
        writeln!(std::io::stderr(), "skipped: ABLATE_SHARED is not set").expect("a standard error");
        return;
    };
    let folder = PathBuf::from(shared).join("data/bleu/wmt17-en-de");
    let read = |name: &str| split_lines(&std::fs::read_to_string(folder.join(name)).expect(name));
    let reference = read("ref.de");
    let table = golden("wmt17.tsv");
    let rows = rows(&table);
    for row in &rows {
        let hypotheses = read(&format!("{}.hyp.de", row["corpus"]));
        assert_is(
            &corpus_bleu(&hypotheses, &[&reference], &config(row)).expect("a score"),
            row,
        );
    }
    assert_eq!(rows.len(), 8 * 7);
}

#[test]
fn a_fractional_k_is_not_truncated() {
    let line = ["a x b y c z".to_owned()];
    let reference = ["a b c d e f".to_owned()];
    let score = |k| {
        let config = BleuConfig {
            smoothing: Smoothing::AddK(k),
            ..BleuConfig::default()
        };
        corpus_bleu(&line, &[&reference], &config).expect("a score").score
    };
    assert_eq!(score(0.0).to_bits(), 0.0_f64.to_bits());
    assert!(0.0 < score(0.5) && score(0.5) < score(1.0));
}

#[test]
fn information_separators_separate_words() {
    let line = ["a\u{1c}b\u{1d}c\u{1e}d\u{1f}e".to_owned()];
    let reference = ["a b c d e".to_owned()];
    for (name, config) in standard_configs() {
        let bleu = corpus_bleu(&line, &[&reference], &config).expect("a score");
        assert_eq!(bleu.counts, [5, 4, 3, 2], "{name}");
    }
}

#[test]
fn no_two_standard_scores_share_a_name_or_a_signature() {
    let configs = standard_configs();
    for (i, (name, config)) in configs.iter().enumerate() {
        for (other_name, other) in &configs[..i] {
            assert_ne!(name, other_name);
            assert_ne!(config.signature(1), other.signature(1));
        }
    }
}

#[test]
fn a_missing_line_is_an_error_with_both_counts() {
    let three = ["a", "b", "c"].map(str::to_owned);
    let error = corpus_bleu(&three, &[&three, &three[..2]], &BleuConfig::default()).expect_err("too few lines");
    assert_eq!(
        error,
        ScoreError::LineCounts {
            stream: 1,
            hypothesis_lines: 3,
            reference_lines: 2
        }
    );
    assert_eq!(error.to_string(), "reference 2 has 2 lines, but there are 3 hypotheses");
}

#[test]
fn nothing_to_score_is_an_error() {
    let one = ["a".to_owned()];
    assert_eq!(
        corpus_bleu(&[], &[&[]], &BleuConfig::default()),
        Err(ScoreError::NoSentences)
    );
    assert_eq!(
        corpus_bleu(&one, &[], &BleuConfig::default()),
        Err(ScoreError::NoReferences)
    );
}

#[test]
fn a_smoothing_value_that_could_make_no_score_is_an_error() {
    let one = ["a".to_owned()];
    for value in [-0.1, f64::NAN, f64::INFINITY] {
        for smoothing in [Smoothing::Floor(value), Smoothing::AddK(value)] {
            let config = BleuConfig {
                smoothing,
                ..BleuConfig::default()
            };
            let result = corpus_bleu(&one, &[&one], &config);
            assert!(
                matches!(result, Err(ScoreError::SmoothingValue { .. })),
                "{smoothing:?}"
            );
        }
    }
}

// printf 'a b c d e f\n' >ref; printf 'a b c d x f\n' | sacrebleu -w 4 ref, sacreBLEU 2.6.0
#[test]
fn json_has_the_fields_of_sacrebleu_in_its_order() {
    let line = ["a b c d x f".to_owned()];
    let reference = ["a b c d e f".to_owned()];
    let bleu = corpus_bleu(&line, &[&reference], &BleuConfig::default()).expect("a score");
    assert!((bleu.score - 53.7285).abs() <= 5e-5);
    let expected = concat!(
        r#"{"name":"BLEU","score":53.7285,"#,
        r#""signature":"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0","#,
        r#""verbose_score":"83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)","#,
        r#""nrefs":"1","case":"mixed","eff":"no","tok":"13a","smooth":"exp","version":"2.6.0"}"#,
    );
    let expected = expected
        .replace("53.7285", &bleu.score.to_string())
        .replace("2.6.0", concat!("ablate-", env!("CARGO_PKG_VERSION")));
    assert_eq!(serde_json::to_string(&SacrebleuJson(&bleu)).expect("JSON"), expected);
}

fn sentence() -> impl Strategy<Value = String> {
    // Few different words, so that n-grams repeat and match; joined so that every tokenizer has work to do.
    let word = prop::sample::select(vec![
        "a", "b", "A", "é", "1", ".", "-", "x-y", "€", "&amp;", "\u{1f}", "\u{a0}",
    ]);
    prop::collection::vec((word, prop::sample::select(vec!["", " "])), 0..24)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, space)| [word, space]).collect())
}

fn pairs() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((sentence(), sentence()), 1..8)
}

fn any_config() -> impl Strategy<Value = BleuConfig> {
    let tokenizers = vec![
        Tokenizer::Mteval13a,
        Tokenizer::None,
        Tokenizer::International,
        Tokenizer::Character,
        Tokenizer::CompoundSplit13a,
    ];
    let smoothing = prop_oneof![
        Just(Smoothing::None),
        Just(Smoothing::Exponential),
        (0.0..=1.0).prop_map(Smoothing::Floor),
        (0.0..=2.0).prop_map(Smoothing::AddK),
    ];
    (
        prop::sample::select(tokenizers),
        prop::sample::select(vec![Case::Mixed, Case::Lower]),
        smoothing,
    )
        .prop_map(|(tokenizer, case, smoothing)| BleuConfig {
            tokenizer,
            case,
            smoothing,
        })
}

fn score(pairs: &[(String, String)], config: &BleuConfig) -> Bleu {
    let (hypotheses, reference): (Vec<String>, Vec<String>) = pairs.iter().cloned().unzip();
    corpus_bleu(&hypotheses, &[&reference], config).expect("a score")
}

proptest! {
    #[test]
    fn a_score_lies_between_0_and_100(pairs in pairs(), config in any_config()) {
        let bleu = score(&pairs, &config);
        prop_assert!((0.0..=100.0 + TOLERANCE).contains(&bleu.score), "{}", bleu.score);
        prop_assert!((0.0..=1.0).contains(&bleu.brevity_penalty));
        prop_assert!((0..4).all(|i| bleu.counts[i] <= bleu.totals[i]));
    }

    #[test]
    fn a_text_scores_100_against_itself(pairs in pairs(), config in any_config()) {
        let same: Vec<_> = pairs.into_iter().map(|(line, _)| (line.clone(), line)).collect();
        let bleu = score(&same, &config);
        prop_assume!(bleu.totals[3] > 0);
        prop_assert!((bleu.score - 100.0).abs() <= TOLERANCE, "{}", bleu.score);
    }

    #[test]
    fn the_order_of_sentence_pairs_does_not_matter(
        (pairs, shuffled) in pairs().prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle())),
        config in any_config(),
    ) {
        prop_assert_eq!(score(&pairs, &config), score(&shuffled, &config));
    }

    #[test]
    fn added_up_sentences_score_as_their_corpus(pairs in pairs(), at in 0_usize..8, config in any_config()) {
        let (hypotheses, reference): (Vec<String>, Vec<String>) = pairs.iter().cloned().unzip();
        let at = at.min(pairs.len());
        let part = |range: std::ops::Range<usize>| -> Statistics {
            let counted = sentence_statistics(&hypotheses[range.clone()], &[&reference[range]], &config);
            counted.unwrap_or_default().into_iter().sum()
        };
        let corpus = part(0..at) + part(at..pairs.len());
        prop_assert_eq!(bleu_from_statistics(&corpus, 1, &config), Ok(score(&pairs, &config)));
    }

    #[test]
    fn the_reference_itself_as_a_second_reference_changes_only_the_signature(pairs in pairs(), config in any_config()) {
        let (hypotheses, reference): (Vec<String>, Vec<String>) = pairs.iter().cloned().unzip();
        let twice = corpus_bleu(&hypotheses, &[&reference, &reference], &config).expect("a score");
        prop_assert_eq!(Bleu { signature: config.signature(1), ..twice }, score(&pairs, &config));
    }
}

#[test]
fn a_suite_names_the_signatures_as_the_scorer_does() {
    let names: Vec<&str> = ablate::score::standard_configs()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ablate::spec::Signature::ALL.map(ablate::spec::Signature::name));
}
