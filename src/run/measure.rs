//! Translations of a split, and their scores.

use std::ops::ControlFlow;

use super::RunError;
use crate::data::Dataset;
use crate::decode::{Hypothesis, translate};
use crate::model::Seq2Seq;
use crate::record::BleuScores;
use crate::score::{Bleu, corpus_bleu, standard_configs};
use crate::spec::{Decoding, Experiment, Split};

/// The best hypothesis for every source of a split, detokenised, in the order of the corpus; nothing if `advance`, which
/// hears how many are done, breaks.
pub fn translations(
    dataset: &Dataset,
    split: Split,
    model: &dyn Seq2Seq,
    decoding: &Decoding,
    advance: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<Vec<String>>, RunError> {
    let sources = &dataset.ids.get(split).source;
    let sources: Vec<Vec<u32>> = (0..sources.sentences())
        .map(|index| sources.sentence(index).to_vec())
        .collect();
    let found = translate(model, &sources, decoding, advance);
    let decode = |hypotheses: Vec<Hypothesis>| Ok(dataset.vocabulary.decode(&hypotheses[0].tokens)?);
    found.map(|found| found.into_iter().map(decode).collect()).transpose()
}

pub fn references(dataset: &Dataset, split: Split) -> Vec<String> {
    dataset
        .text
        .get(split)
        .iter()
        .map(|(_, target)| target.clone())
        .collect()
}

/// BLEU of greedy translations of the dev split, under the signature that enters the table.
pub fn greedy_dev_bleu(dataset: &Dataset, model: &dyn Seq2Seq, experiment: &Experiment) -> Result<f64, RunError> {
    let greedy = Decoding {
        beam: 1,
        ..experiment.decoding.clone()
    };
    let found = translations(dataset, Split::Dev, model, &greedy, |_| ControlFlow::Continue(()))?;
    let hypotheses = found.expect("nothing breaks");
    let scores = scores(&hypotheses, &references(dataset, Split::Dev))?;
    Ok(scores.under(experiment.evaluation.bleu).score)
}

/// One output under every signature that is compared with published numbers.
pub fn scores(hypotheses: &[String], references: &[String]) -> Result<BleuScores, RunError> {
    let score = |(_, config)| corpus_bleu(hypotheses, &[references], &config);
    let scores: Vec<Bleu> = standard_configs().into_iter().map(score).collect::<Result<_, _>>()?;
    let [standard, lowercase, international, international_lowercase, compound] =
        scores.try_into().expect("one score for each configuration");
    Ok(BleuScores {
        standard,
        lowercase,
        international,
        international_lowercase,
        compound,
    })
}
