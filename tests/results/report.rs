//! A comparison as text.

use std::fs;
use std::path::Path;

use ablate::report::{self, Budget, ReportContext, results_diff, sections};
use ablate::results::{Comparison, LossCurve, ResultsTable, RowTarget, RunRecord, RunStatus, compare};
use ablate::spec::load_suite;

use crate::fixtures::{done, ended, table, target};

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn context() -> ReportContext {
    ReportContext {
        title: "A small table".into(),
        base: pairs(&[
            ("model.layers", "6"),
            ("model.heads", "8"),
            ("model.positional", "sinusoidal"),
            ("model.norm", "post"),
            ("regularization.dropout", "0.1"),
        ]),
        budget: Budget::Scaled,
    }
}

fn targets() -> [RowTarget; 5] {
    let row = |id, changes: &[(&str, &str)], bleu| RowTarget {
        changes: pairs(changes),
        ..target(id, bleu)
    };
    [
        RowTarget {
            paper_ppl: Some(4.92),
            paper_params_millions: Some(65.0),
            ..row("base", &[], Some(25.8))
        },
        RowTarget {
            paper_ppl: Some(5.29),
            ..row("A1", &[("model.heads", "1")], Some(24.9))
        },
        row("D1", &[("regularization.dropout", "0.0")], Some(24.6)),
        row(
            "E",
            &[("model.positional", "learned"), ("model.max_positions", "64")],
            Some(25.7),
        ),
        row("big", &[("model.heads", "16")], None),
    ]
}

fn records() -> Vec<RunRecord> {
    vec![
        done("base", 1, 5.0, 30.0),
        done("base", 2, 5.2, 31.0),
        done("A1", 1, 5.5, 28.0),
        done("A1", 2, 5.7, 29.2),
        ended("D1", 1, RunStatus::Diverged, Some("at step 40")),
        ended("D1", 2, RunStatus::Diverged, Some("at step 44")),
        done("E", 1, 5.05, 30.2),
        ended("E", 2, RunStatus::Failed, Some("out of `memory` | <b>aborted</b>")),
        ended("big", 1, RunStatus::Missing, None),
        ended("big", 2, RunStatus::Missing, None),
    ]
}

fn compared(records: &[RunRecord], targets: &[RowTarget]) -> Comparison {
    Comparison::new(&table(records), "base", targets).unwrap()
}

fn markdown(comparison: &Comparison, context: &ReportContext) -> String {
    report::markdown(&context.title, &sections(comparison, context, &[]))
}

fn html(comparison: &Comparison, context: &ReportContext, curves: &[LossCurve]) -> String {
    report::html(&context.title, &sections(comparison, context, curves))
}

fn terminal(comparison: &Comparison, width: usize) -> String {
    report::terminal(&sections(comparison, &context(), &[]), width)
}

/// By hand. The one interval: differences -2.0 and -1.8 have a standard error of 0.1; times t(0.975, 1) = 12.706.
#[test]
fn the_markdown_of_a_small_table_is_this() {
    let expected = "\
# A small table

| row  |   h | P_drop |         PE | other            | runs |  params M |                PPL |                BLEU |              Δ BLEU | verdict           |
| ---- | --: | -----: | ---------: | ---------------- | ---: | --------: | -----------------: | ------------------: | ------------------: | ----------------- |
| base |   8 |    0.1 | sinusoidal |                  |  2/2 | 1.00 (65) | 5.10 ± 0.14 (4.92) | 30.50 ± 0.71 (25.8) |                     | baseline          |
| A1   |   1 |        |            |                  |  2/2 |      1.00 | 5.60 ± 0.14 (5.29) | 28.60 ± 0.85 (24.9) | -1.90 ± 1.27 (-0.9) | agrees            |
| D1   |     |    0.0 |            |                  |  0/2 |         - |           DIVERGED |     DIVERGED (24.6) |            - (-1.2) | DIVERGED          |
| E    |     |        |    learned | max_positions=64 |  1/2 |      1.00 |               5.05 |        30.20 (25.7) |        +0.20 (-0.1) | one seed: no test |
| big  |  16 |        |            |                  |  0/2 |         - |            NOT RUN |             NOT RUN |                   - | NOT RUN           |

Runs and rows to know about:

- D1, seed 1: DIVERGED: `at step 40`
- D1, seed 2: DIVERGED: `at step 44`
- E, seed 2: FAILED: `out of 'memory' | <b>aborted</b>`

How to read this:

- Same in every row: N = 6.
- Mean ± sample standard deviation over the finished seeds; the paper's figure is in parentheses. PPL is per target token, from the unsmoothed loss. BLEU signature: `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`.
- Δ BLEU is the row minus base, paired by seed over the seeds that both finished; ± is half of the 95 % t interval. `agrees`: the interval excludes zero, and Δ BLEU has the paper's sign. `disagrees`: the interval excludes zero, and Δ BLEU has the opposite sign.
- Our order of the rows by BLEU and the paper's: Kendall's tau-b = 1.00 over 3 rows (1: same order, 0: no relation).
- These rows are smaller than the paper's, or were trained less or on other data: use the paper's figures for direction and rank only, not as values to reach.
- Data hash: `da7a`.
";
    assert_eq!(markdown(&compared(&records(), &targets()), &context()), expected);
}

#[test]
fn the_committed_examples_have_the_tables_that_their_csv_files_give() {
    for name in ["table3-quick", "table3-multi30k", "multi30k"] {
        let path = format!("experiments/{name}.toml");
        let suite = load_suite(Path::new(&path), &|path: &Path| fs::read_to_string(path)).unwrap();
        let table = ResultsTable::read(Path::new(&format!("results/example/{name}.csv"))).unwrap();
        let text = markdown(
            &Comparison::of_suite(&suite, &table).unwrap(),
            &ReportContext::of(&suite),
        );
        let committed = fs::read_to_string(format!("reports/example/{name}.md")).unwrap();
        let rows = |text: &str| {
            text.lines()
                .filter(|line| line.starts_with('|'))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(&text), rows(&committed), "{name}");
    }
}

#[test]
fn several_tests_are_corrected_and_no_evidence_is_explained() {
    let mut records = records();
    records.truncate(4);
    // Differences +1.0 and -0.8: nothing to see.
    records.extend([done("E", 1, 5.0, 31.0), done("E", 2, 5.0, 30.2)]);
    let text = markdown(&compared(&records, &targets()), &context());
    assert!(text.contains("| no evidence"), "{text}");
    assert!(text.contains("these runs do not show a difference from the baseline"));
    // A1: t = 19 with one degree of freedom, p = 0.033; doubled it is above 0.05.
    assert!(
        text.contains("After Holm's correction for 2 tests, no row still differs from the baseline."),
        "{text}"
    );
}

#[test]
fn a_suite_without_paper_figures_still_gets_a_verdict() {
    let targets = targets().map(|target| RowTarget {
        paper_bleu: None,
        ..target
    });
    let text = markdown(&compared(&records(), &targets), &context());
    let a1 = text.lines().find(|line| line.starts_with("| A1")).unwrap();
    assert!(a1.contains("| lower"), "{a1}");
    assert!(!text.contains("Kendall"));
}

#[test]
fn a_row_goes_by_its_label_and_says_its_note() {
    let mut targets = targets();
    targets[1].label = Some("one head".into());
    targets[1].note = Some("as wide as eight".into());
    let text = markdown(&compared(&records(), &targets), &context());
    assert!(
        text.contains("\n| one head |") && text.contains("\n- one head: as wide as eight\n"),
        "{text}"
    );
    let curves = [LossCurve {
        row: "A1".into(),
        points: vec![(1, 2.0)],
    }];
    let page = html(&compared(&records(), &targets), &context(), &curves);
    // In the table, twice in the difference chart (name and dot), its diamond, and three times in the panel; the note.
    assert_eq!(page.matches("one head").count(), 8);
    assert!(!page.contains("A1"));
}

#[test]
fn a_row_on_other_data_is_named() {
    let mut records = records();
    records[2].data_hash = Some("07e5".into());
    let text = markdown(&compared(&records, &targets()), &context());
    assert!(
        text.contains("- A1: trained or scored on other data than base"),
        "{text}"
    );
    assert!(text.contains("Data hash: `07e5`, `da7a`."));
}

#[test]
fn nothing_run_yet_is_a_table_of_statuses() {
    let text = markdown(&compared(&[], &targets()), &context());
    assert_eq!(text.matches("NOT RUN").count(), 15);
    assert!(!text.contains("NaN") && !text.contains("Kendall") && !text.contains("signature"));
}

#[test]
fn the_terminal_table_fits_and_never_loses_row_score_and_verdict() {
    let comparison = compared(&records(), &targets());
    for width in 50..160 {
        let text = terminal(&comparison, width);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} characters in {width}:\n{text}");
        for kept in ["base", "30.50 ± 0.71 (25.8)", "one seed: no test", "DIVERGED"] {
            assert!(text.contains(kept), "{kept} is missing in {width}:\n{text}");
        }
    }
    assert!(terminal(&comparison, 100).contains("PE=learned max_positions=64"));
}

#[test]
fn the_page_is_complete_in_itself_and_escapes_what_a_log_says() {
    let curve = |row: &str, loss| LossCurve {
        row: row.into(),
        points: vec![(100, loss + 1.0), (200, loss)],
    };
    let curves = [
        curve("base", 2.0),
        curve("A1", 2.25),
        LossCurve {
            row: "D1".into(),
            points: vec![],
        },
    ];
    let page = html(&compared(&records(), &targets()), &context(), &curves);
    assert!(page.contains("&lt;b&gt;aborted&lt;/b&gt;") && !page.contains("<b>"));
    for outside in ["<script", "http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "the page needs {outside}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf"));
    assert_eq!(
        page.matches("<polyline").count(),
        4,
        "two panels, the baseline's curve in each"
    );
    // One dot for each row with a difference of ours, one diamond for each of the paper's.
    assert_eq!((page.matches("<circle").count(), page.matches("<path").count()), (2, 3));
    for cell in [
        "-1.90 ± 1.27 (-0.9)",
        "one seed: no test",
        "NOT RUN",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(cell), "{cell} is missing");
    }
}

#[test]
fn better_bleu_is_drawn_further_right_and_lower_loss_further_down() {
    let curves = [LossCurve {
        row: "base".into(),
        points: vec![(100, 3.0), (200, 2.0)],
    }];
    let page = html(&compared(&records(), &targets()), &context(), &curves);
    let number_after = |text: &str, key: &str| -> f64 {
        let rest = &text[text.find(key).unwrap() + key.len()..];
        rest[..rest.find(['"', ' ', ',']).unwrap()].parse().unwrap()
    };
    let dots: Vec<_> = page
        .match_indices("<circle")
        .map(|(at, _)| number_after(&page[at..], "cx=\""))
        .collect();
    assert!(dots[0] < dots[1], "A1 at -1.90 lies left of E at +0.20: {dots:?}");
    let line = &page[page.find("<polyline").unwrap()..];
    let places = &line[line.find("points=\"").unwrap() + 8..];
    let places: Vec<Vec<f64>> = places[..places.find('"').unwrap()]
        .split(' ')
        .map(|place| place.split(',').map(|number| number.parse().unwrap()).collect())
        .collect();
    assert!(places[0][0] < places[1][0] && places[0][1] < places[1][1], "{places:?}");
}

#[test]
fn a_page_without_any_result_has_no_charts_of_ours() {
    let page = html(&compared(&[], &targets()), &context(), &[]);
    assert!(!page.contains("<polyline") && !page.contains("<circle"));
    assert!(page.contains("NOT RUN"));
}

#[test]
fn two_files_are_shown_side_by_side_with_refusals_in_words() {
    let before = [
        done("base", 1, 5.0, 30.0),
        done("A1", 1, 5.0, 29.0),
        done("old", 1, 5.0, 29.0),
    ];
    let mut after = [
        done("base", 1, 4.5, 31.5),
        done("A1", 1, 5.0, 29.0),
        ended("new", 1, RunStatus::Failed, None),
    ];
    after[1].data_hash = Some("07e5".into());
    let [before, after] = [table(&before), table(&after)];
    let expected = "\
row                        PPL                      BLEU
----  ------------------------  ------------------------
base      5.00 -> 4.50 (-0.50)    30.00 -> 31.50 (+1.50)
A1    other data: da7a -> 07e5  other data: da7a -> 07e5

only in the first file: old
only in the second file: new
";
    let sections = results_diff(&compare(&before, &after).unwrap());
    assert_eq!(report::terminal(&sections, usize::MAX), expected);
}

#[test]
fn weights_and_operations_have_columns_where_there_are_any() {
    let plain = markdown(&compared(&records(), &targets()), &context());
    assert!(
        !plain.contains("last / best / average") && !plain.contains("FLOPs"),
        "{plain}"
    );
    let mut records = records();
    records[2].note = Some("ended at step 20 of 60: patience ran out".into());
    for (record, average) in records[2..4].iter_mut().zip([28.0, 29.0]) {
        record.bleu_last = Some(27.0);
        record.bleu_best = Some(27.5);
        record.bleu_average = Some(average);
        record.training_flops = Some(2.5e12);
    }
    let text = markdown(&compared(&records, &targets()), &context());
    let row = text.lines().find(|line| line.starts_with("| A1")).unwrap();
    assert!(row.contains("27.00 / 27.50 / 28.50") && row.contains("2.5e12"), "{row}");
    assert!(text.contains("- A1, seed 1: ended at step 20 of 60"), "{text}");
    assert!(
        text.contains("- last / best / average: mean BLEU") && text.contains("- FLOPs: counted"),
        "{text}"
    );
    let has_gap = |line: &str| line.starts_with("- ") && line.contains("  ");
    assert!(!text.lines().any(has_gap), "{text}");
}
