//! The resolved `spec.toml` of any experiment is read back unchanged, and no text breaks the reader.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::Path;

use ablate::spec::{Experiment, Key, Kind, Value, keys, load_experiment, load_suite, render};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const BASE: &str = include_str!("spec_faults/good/base.toml");

/// Generates values that a kind allows; small ones are more likely.
fn values(kind: Kind) -> BoxedStrategy<Value> {
    match kind {
        Kind::Whole(min, max) => prop_oneof![min..=max.min(min + 300), min..=max]
            .prop_map(Value::Whole)
            .boxed(),
        Kind::Real(min, max) => {
            let end = |bound| match bound {
                Bound::Included(end) | Bound::Excluded(end) => end,
                Bound::Unbounded => 0.0,
            };
            (end(min)..=end(max), 0..10)
                .prop_map(|(number, tenths)| Value::Real(number * 0.1_f64.powi(tenths)))
                .prop_filter("inside the ends", move |value| kind.allows(value))
                .boxed()
        }
        Kind::Choice(names) => select(names).prop_map(Value::from).boxed(),
        // Quotes, line ends, backslashes and letters of any script must survive.
        Kind::File | Kind::Device | Kind::Text => r#"[a-zäжß ."'\\#\n\t=-][^/]{0,12}"#.prop_map(Value::Text).boxed(),
    }
}

/// Generates a value for every key of the schema, in any order.
fn wishes() -> impl Strategy<Value = Vec<(&'static Key, Value)>> {
    let one = |key: &'static Key| values(key.kind).prop_map(move |value| (key, value));
    keys().map(one).collect::<Vec<_>>().prop_shuffle()
}

/// Returns the wishes that are valid together, and their experiment.
fn granted(wishes: &[(&'static Key, Value)]) -> (Vec<(&'static Key, Value)>, Experiment) {
    let mut granted = Vec::new();
    let mut experiment = over_base(&granted).expect("the base is right");
    for (key, value) in wishes {
        // A choice comes with the keys that it makes necessary.
        let needed = wishes.iter().filter(|(other, _)| {
            let needs = other.needs.filter(|needs| needs.key.path == key.path);
            needs.is_some_and(|needs| needs.condition.is_met(value))
        });
        let mut more = granted.clone();
        for (key, value) in std::iter::once(&(*key, value.clone())).chain(needed) {
            if more.iter().all(|(known, _): &(&Key, Value)| known.path != key.path) {
                more.push((*key, value.clone()));
            }
        }
        if let Some(found) = over_base(&more) {
            (granted, experiment) = (more, found);
        }
    }
    (granted, experiment)
}

fn over_base(settings: &[(&'static Key, Value)]) -> Option<Experiment> {
    let lines = settings.iter().map(|(key, value)| format!("{} = {value}\n", key.path));
    let text = format!("base = 'base.toml'\n{}", lines.collect::<String>());
    let read = |path: &Path| Ok(if path == Path::new("base.toml") { BASE } else { &text }.to_owned());
    load_experiment(Path::new("x.toml"), &read).ok()
}

/// Whether two values are equal, except for the rounding of numbers that are stored in 32 bits.
fn is_same(written: &Value, found: &Value) -> bool {
    match (written, found) {
        (Value::Real(written), Value::Real(found)) => (*written as f32).to_bits() == (*found as f32).to_bits(),
        _ => written == found,
    }
}

#[test]
fn the_experiments_of_these_tests_set_every_key() {
    let mut runner = TestRunner::deterministic();
    let mut set = BTreeSet::new();
    for _ in 0..200 {
        let wishes = wishes().new_tree(&mut runner).unwrap().current();
        set.extend(granted(&wishes).0.iter().map(|(key, _)| key.path));
    }
    let never: Vec<_> = keys().map(|key| key.path).filter(|path| !set.contains(path)).collect();
    assert!(never.is_empty(), "{never:?}");
}

/// Generates fragments of specs in a wrong order.
fn fragments() -> impl Strategy<Value = String> {
    let known = select(vec![
        "[model]",
        "[[row]]",
        "[[grid]]",
        "[training]",
        "title",
        "base",
        "seeds",
        "id",
        "set",
        "paper",
        "model",
        "heads",
        "d_k",
        "steps",
        "max_positions",
        "positional",
        "corpus",
        "\"x.toml\"",
        "\"learned\"",
        "\"h{model.heads}\"",
        "\"{\"",
        "'text'",
        "=",
        "= {",
        "}",
        "[",
        "]",
        ".",
        ",",
        "\n",
        "\n",
        "\n",
        "0",
        "1",
        "-3",
        "2.5",
        "nan",
        "1e99",
        "true",
        "2017-06-12",
        "#",
        "\"",
        "\u{feff}",
        "ä",
    ]);
    prop::collection::vec(known, 0..40).prop_map(|fragments| fragments.join(" "))
}

/// Reads a text as a suite and as an experiment; a refusal names at least one fault.
fn read_both_ways(text: &str) {
    let read = |path: &Path| {
        let is_here = path == Path::new("x.toml");
        if is_here {
            Ok(text.to_owned())
        } else {
            Err(std::io::ErrorKind::NotFound.into())
        }
    };
    let suite = load_suite(Path::new("x.toml"), &read);
    let experiment = load_experiment(Path::new("x.toml"), &read);
    for faults in [suite.err(), experiment.err()].into_iter().flatten() {
        assert!(!faults.faults.is_empty(), "refused without a reason");
        assert!(!faults.to_string().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_experiment_written_and_read_again_is_the_same(wishes in wishes()) {
        let (settings, experiment) = granted(&wishes);
        for (key, value) in settings {
            let found = key.value_in(&experiment);
            prop_assert!(found.as_ref().is_some_and(|found| is_same(&value, found)), "{} = {value}: {found:?}", key.path);
        }
        let text = render(&experiment);
        let again = load_experiment(Path::new("spec.toml"), &|_| Ok(text.clone()));
        prop_assert_eq!(again.map_err(|faults| faults.to_string()), Ok(experiment), "{}", text);
    }

    #[test]
    fn no_text_breaks_the_reader(text in any::<String>()) {
        read_both_ways(&text);
    }

    #[test]
    fn no_mixture_of_fragments_breaks_the_reader(text in fragments()) {
        read_both_ways(&text);
    }

    #[test]
    fn no_damage_to_a_good_file_breaks_the_reader(at in 0..10_000_usize, length in 0..40_usize, with in fragments()) {
        let start = at % BASE.len();
        let end = (start + length).min(BASE.len());
        let damaged = [&BASE.as_bytes()[..start], with.as_bytes(), &BASE.as_bytes()[end..]].concat();
        read_both_ways(&String::from_utf8_lossy(&damaged));
    }
}
