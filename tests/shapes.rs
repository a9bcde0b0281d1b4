//! The models that the build compiled are those that the suites ask for.

use std::fs;
use std::path::Path;

use ablate::generated::SHAPES;
use ablate::plan::{Plan, ShapeKey};
use ablate::run::Device;
use ablate::spec::{Norm, Parameters, Suite, load_suite};

/// Larger models are left out: they would only take memory.
const LARGEST: u64 = 4_000_000;

fn suites() -> Vec<Suite> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments");
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files
        .map(|path| load_suite(&path, &|path| fs::read_to_string(path)).expect("a valid suite"))
        .collect()
}

#[test]
fn every_shape_of_every_suite_is_compiled_once() {
    let mut wanted: Vec<ShapeKey> = suites().iter().flat_map(|suite| Plan::of(suite).shapes).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut compiled = SHAPES.to_vec();
    compiled.sort_unstable();
    assert_eq!(compiled, wanted);
}

#[test]
fn models_have_as_many_parameters_as_the_hand_formula_says() {
    let mut counted = 0;
    for row in suites().iter().flat_map(|suite| &suite.rows) {
        let expected = Parameters::of(&row.experiment).total();
        if expected > LARGEST {
            continue;
        }
        let build = |experiment| Device::Cpu.build("", experiment, 1).expect("compiled");
        assert_eq!(
            build(&row.experiment).parameter_count() as u64,
            expected,
            "row {}",
            row.id
        );
        let mut pre_norm = row.experiment.clone();
        pre_norm.model.norm = Norm::Pre;
        assert_eq!(
            build(&pre_norm).parameter_count() as u64,
            Parameters::of(&pre_norm).total(),
            "row {}",
            row.id
        );
        counted += 1;
    }
    assert!(counted >= 35, "only {counted} rows were counted");
}
