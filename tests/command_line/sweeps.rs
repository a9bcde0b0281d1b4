//! From suite to table.

use super::*;

#[test]
fn a_sweep_leaves_folders_csv_and_report_and_the_second_one_does_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(on_smoke(folder.path(), &["sweep", "smoke"]));
    assert_exit(&output, 0);
    let base = folder.path().join("results/smoke/base-s1");
    for file in [
        "spec.toml",
        "provenance.toml",
        "history.csv",
        "hypotheses.test.txt",
        "score.toml",
        "log.txt",
        "DONE",
    ] {
        assert!(base.join(file).is_file(), "{file} is missing");
    }
    let csv = read(folder.path().join("results/smoke.csv"));
    let columns = "suite,row,seed,status,steps,tokens,parameters,training_flops,weights,ppl,bleu,signature";
    assert!(csv.starts_with(columns), "{csv}");
    assert_eq!(
        csv.lines().filter(|line| line.contains(",done,30,")).count(),
        3,
        "{csv}"
    );
    let average = csv.lines().nth(3).expect("a third row");
    assert!(
        average.contains(",average,") && average.contains(",20 25 30,"),
        "{average}"
    );
    assert_eq!(read(base.join("hypotheses.test.txt")).lines().count(), 1000);
    for report in ["reports/smoke.md", "reports/smoke.html"] {
        assert!(
            read(folder.path().join(report)).contains("23.7"),
            "the paper's BLEU is missing in {report}"
        );
    }
    assert!(stdout(&output).contains("base") && stdout(&output).contains("deeper"));

    let again = run(on_smoke(folder.path(), &["sweep", "smoke"]));
    assert_exit(&again, 0);
    assert!(stderr(&again).contains("nothing to do"), "{}", stderr(&again));
    assert_eq!(read(folder.path().join("results/smoke.csv")), csv);

    let compared = run(ablate(
        folder.path(),
        &["compare", "results/smoke.csv", "results/smoke.csv"],
    ));
    assert_exit(&compared, 0);
    assert!(stdout(&compared).contains("deeper"));

    let mut translate = ablate(folder.path(), &["translate", "results/smoke/base-s1"]);
    translate.stdin(std::fs::File::open(base.join("hypotheses.test.txt")).expect("written above"));
    let translated = run(translate);
    assert_exit(&translated, 0);
    assert_eq!(stdout(&translated).lines().count(), 1000);
}

#[test]
fn the_bleu_of_the_csv_is_that_of_the_hypotheses() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_exit(&run(on_smoke(folder.path(), &["sweep", "smoke", "--rows", "base"])), 0);
    let references: String = ablate::grammar::GrammarPairs::new(ablate::spec::Split::Test)
        .take(1000)
        .map(|(_, german)| german + "\n")
        .collect();
    write(folder.path().join("references"), &references);
    let hypotheses = "results/smoke/base-s1/hypotheses.test.txt";
    let json = stdout(&run(ablate(
        folder.path(),
        &["score", hypotheses, "references", "--json"],
    )));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let csv = read(folder.path().join("results/smoke.csv"));
    let bleu: f64 = csv
        .lines()
        .nth(1)
        .and_then(|line| line.split(',').nth(10))
        .expect("bleu")
        .parse()
        .expect("a number");
    assert!((bleu - json["score"].as_f64().expect("a number")).abs() <= 1e-9);
}

/// A suite with one row that cannot but diverge and one that cannot but fail.
#[test]
fn a_run_that_diverges_or_fails_has_a_status_and_no_number() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let experiments = folder.path().join("experiments");
    std::fs::create_dir(&experiments).expect("a writable folder");
    write(
        experiments.join("base.toml"),
        &read(Path::new(EXPERIMENTS).join("bases/tiny.toml")),
    );
    let suite = "title = \"t\"\nbase = \"base.toml\"\nseeds = [1]\n[[row]]\nid = \"base\"\n[[row]]\nid = \"wild\"\n\
                 set = { training.warmup_steps = 1, training.learning_rate_factor = 0.39, training.adam_epsilon = 1e-30, \
                 training.adam_beta2 = 0.01 }\n";
    write(experiments.join("odd.toml"), suite);
    let output = run(ablate(folder.path(), &["sweep", "odd", "--rows", "wild"]));
    let csv = read(folder.path().join("results/odd.csv"));
    let wild: Vec<&str> = csv.lines().nth(2).expect("a row").split(',').collect();
    if output.status.code() == Some(7) {
        assert_eq!((wild[3], wild[9], wild[10]), ("diverged", "", ""), "{csv}");
    } else {
        panic!("the row was expected to diverge: {csv}{}", stderr(&output));
    }
}

#[test]
fn a_run_that_cannot_start_leaves_the_result_before_it_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_edited(folder.path(), "");
    assert_exit(&run(ablate(folder.path(), &["run", "edited", "base"])), 0);

    write_edited(folder.path(), "set = { training.steps = 31 }\n");
    let refused = run(ablate(folder.path(), &["run", "edited", "base", "--device", "cuda:99"]));
    assert_exit(&refused, 2);
    assert!(folder.path().join("results/edited/base-s1/DONE").exists());
    assert!(!stderr(&refused).contains("preparing"), "{}", stderr(&refused));

    write_edited(folder.path(), "");
    let base = folder.path().join("experiments/base.toml");
    let grammar = read(&base);
    write(
        &base,
        &grammar.replace(
            "corpus = \"grammar-en-de\"\ntrain_pairs = 2000\n",
            "corpus = \"multi30k\"\nsource_language = \"en\"\ntarget_language = \"de\"\n",
        ),
    );
    let refused = run(ablate(folder.path(), &["run", "edited", "base"]));
    assert_exit(&refused, 4);
    assert!(folder.path().join("results/edited/base-s1/DONE").exists());
}
