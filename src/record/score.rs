//! The result of one run, under every signature.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{RecordError, toml_file};
use crate::score::Bleu;
use crate::spec::Signature;

/// Content of `score.toml`, the result of a finished run. It has no times: the same run writes the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunScore {
    /// The split that `ppl` and `bleu` were measured on.
    pub split: String,
    /// Updates of the parameters.
    pub steps: u64,
    /// Target tokens trained on.
    pub tokens: u64,
    /// Counted operations of the matrix products of training, forward and backward.
    pub training_flops: Option<f64>,
    pub parameters: u64,
    /// Perplexity per target token on `split`, from the unsmoothed negative log-likelihood.
    pub ppl: f64,
    /// Perplexity on the dev split.
    pub dev_ppl: Option<f64>,
    /// Training pairs left out because they were too long.
    pub skipped_pairs: Option<u64>,
    /// Tokens of `split` that are not in the vocabulary.
    #[serde(alias = "unknown_pieces")]
    pub unknown_tokens: Option<u64>,
    /// Weights that `ppl` and `bleu` belong to: `last`, `best` or `average`.
    pub weights: Option<String>,
    /// Signature that enters the table; absent in old files, where it was always `13a`.
    pub bleu_in_table: Option<String>,
    pub bleu: BleuScores,
    /// Figures of each set of weights, if the run chooses among several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_weights: Vec<WeightsScore>,
}

/// One set of weights of a run, with its figures on the evaluation split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightsScore {
    /// `last`, `best` or `average`.
    pub weights: String,
    /// Updates after which the weights were taken; several are averaged.
    pub steps: Vec<u64>,
    pub dev_ppl: f64,
    pub ppl: f64,
    /// BLEU under the signature that enters the table.
    pub bleu: f64,
    pub bleu_13a: f64,
    pub bleu_13a_lc: f64,
}

impl BleuScores {
    /// Returns the score under a signature.
    #[must_use]
    pub fn under(&self, signature: Signature) -> &Bleu {
        match signature {
            Signature::Mteval13a => &self.standard,
            Signature::Mteval13aLower => &self.lowercase,
            Signature::International => &self.international,
            Signature::InternationalLower => &self.international_lowercase,
            Signature::CompoundSplit => &self.compound,
        }
    }
}

/// Scores of one output under the signatures that published numbers use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BleuScores {
    /// Today's standard; the default signature of the table.
    #[serde(rename = "13a", with = "BleuInFile")]
    pub standard: Bleu,
    #[serde(rename = "13a-lc", with = "BleuInFile")]
    pub lowercase: Bleu,
    #[serde(rename = "intl", with = "BleuInFile")]
    pub international: Bleu,
    #[serde(rename = "intl-lc", with = "BleuInFile")]
    pub international_lowercase: Bleu,
    /// The signature nearest to the paper's: compounds split at hyphens.
    #[serde(rename = "compound-split", with = "BleuInFile")]
    pub compound: Bleu,
}

/// Names of the fields in the file; the room `score` knows no files.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Bleu", deny_unknown_fields)]
struct BleuInFile {
    score: f64,
    precisions: [f64; 4],
    counts: [u64; 4],
    totals: [u64; 4],
    brevity_penalty: f64,
    hypothesis_length: u64,
    reference_length: u64,
    signature: String,
}

impl RunScore {
    /// Returns the BLEU that enters the table.
    #[must_use]
    pub fn in_table(&self) -> &Bleu {
        let named = self.bleu_in_table.as_deref().and_then(Signature::named);
        self.bleu.under(named.unwrap_or_default())
    }

    /// Reads `score.toml`.
    ///
    /// # Errors
    /// When the file is missing, unreadable, or not what [`RunScore::write`] writes.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        toml_file::read(path)
    }

    /// Writes `score.toml` in one step.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        toml_file::write(path, self)
    }

    /// Returns the name and value of the first number that cannot be a perplexity or a BLEU score.
    pub(super) fn impossible_number(&self) -> Option<(&'static str, f64)> {
        let ppl = [("ppl", Some(self.ppl)), ("dev_ppl", self.dev_ppl)];
        let impossible_ppl = ppl.into_iter().filter_map(|(name, ppl)| Some((name, ppl?)));
        let BleuScores {
            standard,
            lowercase,
            international,
            international_lowercase,
            compound,
        } = &self.bleu;
        let bleu = [
            ("13a", standard),
            ("13a-lc", lowercase),
            ("intl", international),
            ("intl-lc", international_lowercase),
            ("compound-split", compound),
        ];
        impossible_ppl
            .filter(|&(_, ppl)| !is_ppl(ppl))
            .chain(
                bleu.map(|(name, bleu)| (name, bleu.score))
                    .into_iter()
                    .filter(|&(_, bleu)| !is_bleu(bleu)),
            )
            .next()
    }
}

/// Returns whether `value` can be a perplexity, which is at least 1; the margin is for rounding.
pub(crate) fn is_ppl(value: f64) -> bool {
    value.is_finite() && value >= 1.0 - 1e-6
}

/// Returns whether `value` can be a BLEU score, which is a percentage; the margin is for rounding.
pub(crate) fn is_bleu(value: f64) -> bool {
    (0.0..=100.0 + 1e-6).contains(&value)
}
