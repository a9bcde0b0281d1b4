//! Runs of a suite, one for each row and seed, in the order in which they run.

use super::shape::ShapeKey;
use crate::spec::{Experiment, Suite, identity};

/// All runs of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Every row with the first seed, then every row with the second: a sweep that is stopped early has seen all rows.
    pub runs: Vec<Run>,
    /// Distinct shapes, in the order of first use.
    pub shapes: Vec<ShapeKey>,
}

/// One row with one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The row's id.
    pub row: String,
    pub seed: u64,
    pub experiment: Experiment,
    /// See [`spec_hash`].
    pub spec_hash: String,
}

impl Plan {
    #[must_use]
    pub fn of(suite: &Suite) -> Self {
        let with_seed = |&seed| {
            suite.rows.iter().map(move |row| Run {
                row: row.id.clone(),
                seed,
                experiment: row.experiment.clone(),
                spec_hash: spec_hash(&row.experiment),
            })
        };
        let mut shapes = Vec::new();
        for row in &suite.rows {
            let shape = ShapeKey::of(&row.experiment);
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        Self {
            runs: suite.seeds.iter().flat_map(with_seed).collect(),
            shapes,
        }
    }
}

impl Run {
    /// Returns the name of the run's folder.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}-s{}", self.row, self.seed)
    }
}

/// Hashes the resolved values of an experiment: 16 hexadecimal digits of BLAKE3. Comments, white space, the order of
/// keys, spelt-out defaults and the seed do not change the hash.
#[must_use]
pub fn spec_hash(experiment: &Experiment) -> String {
    blake3::hash(identity(experiment).as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::*;
    use crate::spec::load_suite;

    const BASE: &str = "
        model = { layers = 2, d_model = 64, d_ff = 256, heads = 4 }
        regularization = { dropout = 0.1, label_smoothing = 0.1 }
        data = { corpus = 'multi30k', vocab_size = 800 }
        training = { steps = 100, batch_tokens = 4096, warmup_steps = 50 }";
    const ROWS: &str = "
        title = 't'
        base = 'base.toml'
        seeds = [7, 3]
        row = [{ id = 'base' }, { id = 'wide', set = { model.d_ff = 512 } }, { id = 'D1', set = { regularization.dropout = 0 } }]";

    fn plan(base: &str, suite: &str) -> Plan {
        let read = |path: &Path| match path.to_str() {
            Some("base.toml") => Ok(base.to_owned()),
            Some("suite.toml") => Ok(suite.to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        Plan::of(&load_suite(Path::new("suite.toml"), &read).unwrap())
    }

    #[test]
    fn every_row_runs_once_with_the_first_seed_before_any_runs_with_the_second() {
        let ids: Vec<_> = plan(BASE, ROWS).runs.iter().map(Run::id).collect();
        assert_eq!(ids, ["base-s7", "wide-s7", "D1-s7", "base-s3", "wide-s3", "D1-s3"]);
    }

    #[test]
    fn rows_that_differ_in_run_time_values_share_a_shape() {
        let shapes: Vec<_> = plan(BASE, ROWS).shapes.iter().map(|shape| shape.d_ff).collect();
        assert_eq!(shapes, [256, 512]);
    }

    #[test]
    fn a_hash_ignores_seed_comments_and_spelt_out_defaults() {
        let plain = plan(BASE, ROWS);
        let spelt = plan(&format!("# a comment\n{BASE}\n decoding = {{ beam  =  0x4 }}\n"), ROWS);
        assert_eq!(plain.runs[0].spec_hash, plain.runs[3].spec_hash);
        assert_eq!(plain.runs[0].spec_hash, spelt.runs[0].spec_hash);
        assert_eq!(plain.runs[0].spec_hash.len(), 16);
    }

    #[test]
    fn a_hash_sees_every_value() {
        let plain = plan(BASE, ROWS);
        let greedy = plan(&format!("{BASE}\n decoding = {{ beam = 1 }}\n"), ROWS);
        assert_ne!(plain.runs[0].spec_hash, plain.runs[1].spec_hash);
        assert_ne!(plain.runs[0].spec_hash, greedy.runs[0].spec_hash);
    }

    #[test]
    fn a_hash_of_before_the_precision_could_be_chosen_is_that_of_f32() {
        let with = |precision: &str| {
            let base = BASE.replace("steps = 100", &format!("steps = 100, precision = '{precision}'"));
            plan(&base, ROWS).runs[0].spec_hash.clone()
        };
        assert_eq!(plan(BASE, ROWS).runs[0].spec_hash, "d630f5775ce9d166");
        assert_eq!(with("f32"), "d630f5775ce9d166");
        assert_ne!(with("bf16"), "d630f5775ce9d166");
    }
}
