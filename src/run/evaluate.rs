//! Evaluation of a trained model: perplexity, translations and their scores, for every set of weights that is wanted.

use std::ops::ControlFlow;

use super::attempt::Attempt;
use super::measure::{references, scores, translations};
use super::training::Training;
use super::{Event, RunError, Scores};
use crate::data::{Dataset, evaluation_batches};
use crate::durable;
use crate::model::Seq2Seq;
use crate::plan::training_flops;
use crate::record::{BleuScores, Ending, RunScore, WeightsScore};
use crate::score::check_texts;
use crate::spec::{Evaluation, Signature, Split, Weights};
use crate::train::{Progress, Snapshot, evaluate};

/// Measures a trained model on the evaluation split and writes hypotheses and scores. The model's own weights, the last,
/// are lost where others are asked for.
pub fn finish(
    attempt: &mut Attempt,
    dataset: &Dataset,
    model: &mut dyn Seq2Seq,
    training: &Training,
) -> Result<Event, RunError> {
    let wanted = wanted(attempt, training)?;
    let Some(candidates) = measure_all(attempt, dataset, model, wanted)? else {
        let step = training.progress.step;
        return Ok(Event::Interrupted { step: Some(step) });
    };
    write_hypotheses(attempt, &candidates)?;
    if let Some(average) = &chosen(attempt, &candidates).average {
        let path = attempt.job.folder.weights();
        durable::write(&path, &average.to_bytes()).map_err(RunError::io(path))?;
    }
    conclude(attempt, dataset, model, &training.progress, &candidates)
}

/// One set of weights and its figures.
struct Candidate {
    weights: Weights,
    steps: Vec<usize>,
    /// The weights themselves, the mean of those of all steps; nothing for the last, which the model has.
    average: Option<Snapshot>,
    figures: Figures,
}

/// Figures of a model on the evaluation split.
#[derive(Clone)]
struct Figures {
    ppl: f64,
    dev_ppl: f64,
    bleu: BleuScores,
    hypotheses: Vec<String>,
}

/// The set of weights whose figures enter the table.
fn chosen<'a>(attempt: &Attempt, candidates: &'a [Candidate]) -> &'a Candidate {
    let selection = &attempt.job.run.experiment.selection;
    let found = candidates
        .iter()
        .find(|candidate| candidate.weights == selection.weights);
    found.expect("what enters the table is measured")
}

/// A set of weights to measure: what it is called, the steps it comes from, and the weights as [`Candidate`] has them.
type Wanted = (Weights, Vec<usize>, Option<Snapshot>);

/// Lists the weights to measure. The last come first, because the model still has them.
fn wanted(attempt: &Attempt, training: &Training) -> Result<Vec<Wanted>, RunError> {
    let mut wanted = vec![(Weights::Last, vec![training.progress.step], None)];
    for (weights, steps) in training.selected(&attempt.job.run.experiment.selection) {
        let snapshots = training.snapshots.as_ref().expect("what is selected was kept");
        let average = snapshots.average(&steps)?;
        wanted.push((weights, steps, Some(average)));
    }
    Ok(wanted)
}

/// Every set of weights; nothing if the listener wants to stop. Two sets from the same steps are measured once.
fn measure_all(
    attempt: &mut Attempt,
    dataset: &Dataset,
    model: &mut dyn Seq2Seq,
    wanted: Vec<Wanted>,
) -> Result<Option<Vec<Candidate>>, RunError> {
    let rounds = wanted.len();
    let mut candidates: Vec<Candidate> = Vec::new();
    for (number, (weights, steps, average)) in wanted.into_iter().enumerate() {
        let same = candidates.iter().find(|candidate| candidate.steps == steps);
        let figures = if let Some(same) = same {
            Some(same.figures.clone())
        } else {
            if let Some(average) = &average {
                restore(attempt, average, model)?;
            }
            measure(attempt, dataset, model, (number, rounds))?
        };
        let Some(figures) = figures else { return Ok(None) };
        candidates.push(Candidate {
            weights,
            steps,
            average,
            figures,
        });
    }
    Ok(Some(candidates))
}

fn restore(attempt: &Attempt, average: &Snapshot, model: &mut dyn Seq2Seq) -> Result<(), RunError> {
    let path = attempt.job.folder.snapshots();
    average
        .restore(model)
        .map_err(|source| RunError::Checkpoint { path, source })
}

/// Perplexity, translations and their scores; nothing if the listener wants to stop. This is round `round.0`, counted
/// from 0, of `round.1`.
fn measure(
    attempt: &mut Attempt,
    dataset: &Dataset,
    model: &dyn Seq2Seq,
    round: (usize, usize),
) -> Result<Option<Figures>, RunError> {
    let experiment = &attempt.job.run.experiment;
    let split = experiment.evaluation.split;
    let of_one = dataset.ids.get(split).source.sentences();
    let (before, sentences) = (round.0 * of_one, round.1 * of_one);
    let listener = &mut *attempt.listener;
    listener.hear(&Event::Translating {
        done: before,
        sentences,
    });
    let found = translations(dataset, split, model, &experiment.decoding, |done| {
        let done = before + done;
        listener.hear(&Event::Translating { done, sentences });
        if listener.wants_stop() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let Some(hypotheses) = found else { return Ok(None) };
    let perplexity = |split| {
        let batches = evaluation_batches(dataset.ids.get(split), experiment.training.micro_batch_tokens);
        evaluate(model, &batches, 0.0).perplexity()
    };
    let dev_ppl = perplexity(Split::Dev);
    Ok(Some(Figures {
        ppl: if split == Split::Dev {
            dev_ppl
        } else {
            perplexity(split)
        },
        dev_ppl,
        bleu: scores(&hypotheses, &references(dataset, split))?,
        hypotheses,
    }))
}

/// Writes the hypotheses of the weights in the table under the plain name, the others beside them.
fn write_hypotheses(attempt: &Attempt, candidates: &[Candidate]) -> Result<(), RunError> {
    let experiment = &attempt.job.run.experiment;
    let split = experiment.evaluation.split.name();
    for candidate in candidates {
        let path = if candidate.weights == experiment.selection.weights {
            attempt.job.folder.hypotheses(split)
        } else {
            attempt.job.folder.hypotheses_of(split, candidate.weights)
        };
        let text: String = candidate
            .figures
            .hypotheses
            .iter()
            .flat_map(|line| [line, "\n"])
            .collect();
        durable::write(&path, text.as_bytes()).map_err(RunError::io(path))?;
    }
    Ok(())
}

/// Writes `score.toml`, and warns of what is odd about the hypotheses in the table.
fn conclude(
    attempt: &mut Attempt,
    dataset: &Dataset,
    model: &mut dyn Seq2Seq,
    progress: &Progress,
    candidates: &[Candidate],
) -> Result<Event, RunError> {
    let experiment = &attempt.job.run.experiment;
    let Evaluation { split, bleu: signature } = experiment.evaluation;
    let Candidate { weights, figures, .. } = chosen(attempt, candidates);
    for warning in check_texts(&figures.hypotheses, &[&references(dataset, split)]) {
        attempt.note(format!("in the hypotheses of {}: {warning}", split.name()));
    }
    let report = &dataset.report.splits;
    let others = if experiment.selection.keeps_weights() {
        candidates
    } else {
        &[]
    };
    let score = RunScore {
        split: split.name().to_owned(),
        steps: progress.step as u64,
        tokens: progress.tokens as u64,
        training_flops: Some(training_flops(experiment, &progress.work)),
        ppl: figures.ppl,
        dev_ppl: Some(figures.dev_ppl),
        parameters: model.parameter_count() as u64,
        skipped_pairs: Some((report.train.skipped_empty + report.train.skipped_too_long) as u64),
        unknown_tokens: Some(
            (report.get(split).source.unknown_tokens + report.get(split).target.unknown_tokens) as u64,
        ),
        weights: Some(weights.name().to_owned()),
        bleu_in_table: Some(signature.name().to_owned()),
        bleu: figures.bleu.clone(),
        of_weights: others.iter().map(|candidate| candidate.score(signature)).collect(),
    };
    score.write(&attempt.job.folder.score())?;
    for candidate in candidates {
        attempt.log.line(&candidate.line(split, signature));
    }
    Ok(Event::Ended(Ending::Done(Scores {
        ppl: figures.ppl,
        bleu: figures.bleu.under(signature).score,
    })))
}

impl Candidate {
    fn score(&self, signature: Signature) -> WeightsScore {
        WeightsScore {
            weights: self.weights.name().to_owned(),
            steps: self.steps.iter().map(|&step| step as u64).collect(),
            dev_ppl: self.figures.dev_ppl,
            ppl: self.figures.ppl,
            bleu: self.figures.bleu.under(signature).score,
            bleu_13a: self.figures.bleu.standard.score,
            bleu_13a_lc: self.figures.bleu.lowercase.score,
        }
    }

    fn line(&self, split: Split, signature: Signature) -> String {
        let steps: Vec<String> = self.steps.iter().map(usize::to_string).collect();
        let (split, weights, steps) = (split.name(), self.weights.name(), steps.join(", "));
        let (ppl, bleu) = (self.figures.ppl, self.figures.bleu.under(signature));
        format!(
            "{split}: {weights} weights (step {steps}): ppl {ppl:.4}, {bleu} ({})",
            bleu.signature
        )
    }
}
