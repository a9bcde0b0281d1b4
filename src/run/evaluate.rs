//! What a trained model is worth: perplexity, translations, and their scores.

use std::ops::ControlFlow;

use super::execute::Attempt;
use super::watch::Listener;
use super::{Event, Job, RunError};
use crate::atomic;
use crate::data::{Dataset, evaluation_batches};
use crate::decode::{Hypothesis, translate};
use crate::model::Seq2Seq;
use crate::results::{BleuScores, RunScore};
use crate::score::{Bleu, check_texts, corpus_bleu, standard_configs};
use crate::spec::Split;
use crate::train::{Progress, evaluate};

/// Measures a trained model on the evaluation split and writes hypotheses and scores.
pub fn finish(
    attempt: &mut Attempt,
    dataset: &Dataset,
    model: &mut dyn Seq2Seq,
    progress: &Progress,
) -> Result<Event, RunError> {
    let job = attempt.job;
    let split = job.run.experiment.evaluation.split;
    let Some(hypotheses) = hypotheses(job, dataset, model, &mut *attempt.listener)? else {
        return Ok(Event::Interrupted { step: progress.step });
    };
    let path = job.folder.hypotheses(split.name());
    let text: String = hypotheses.iter().flat_map(|line| [line, "\n"]).collect();
    atomic::write(&path, text.as_bytes()).map_err(RunError::io(path))?;

    let references: Vec<String> = dataset
        .text
        .get(split)
        .iter()
        .map(|(_, target)| target.clone())
        .collect();
    for warning in check_texts(&hypotheses, &[&references]) {
        attempt.note(format!("in the hypotheses of {}: {warning}", split.name()));
    }
    let bleu = scores(&hypotheses, &references)?;
    let perplexity = |split| {
        let batches = evaluation_batches(dataset.ids.get(split), job.run.experiment.training.micro_batch_tokens);
        evaluate(model, &batches, 0.0).perplexity()
    };
    let dev_ppl = perplexity(Split::Dev);
    let report = &dataset.report.splits;
    let score = RunScore {
        split: split.name().to_owned(),
        steps: progress.step as u64,
        tokens: progress.tokens as u64,
        ppl: if split == Split::Dev {
            dev_ppl
        } else {
            perplexity(split)
        },
        dev_ppl: Some(dev_ppl),
        parameters: model.parameter_count() as u64,
        skipped_pairs: Some((report.train.skipped_empty + report.train.skipped_too_long) as u64),
        unknown_pieces: Some(
            (report.get(split).source.unknown_pieces + report.get(split).target.unknown_pieces) as u64,
        ),
        bleu,
    };
    score.write(&job.folder.score())?;
    let (ppl, bleu) = (score.ppl, &score.bleu.standard);
    attempt
        .log
        .line(&format!("{}: ppl {ppl:.4}, {bleu} ({})", split.name(), bleu.signature));
    Ok(Event::Finished { ppl, bleu: bleu.score })
}

/// The best hypothesis for every source of the evaluation split, detokenised, in the order of the corpus; nothing if the
/// listener wants to stop.
fn hypotheses(
    job: &Job,
    dataset: &Dataset,
    model: &dyn Seq2Seq,
    listener: &mut dyn Listener,
) -> Result<Option<Vec<String>>, RunError> {
    let experiment = &job.run.experiment;
    let sources = &dataset.ids.get(experiment.evaluation.split).source;
    let sentences = sources.sentences();
    let sources: Vec<Vec<u32>> = (0..sentences).map(|index| sources.sentence(index).to_vec()).collect();
    listener.hear(&Event::Translating { done: 0, sentences });
    let found = translate(model, &sources, &experiment.decoding, |done| {
        listener.hear(&Event::Translating { done, sentences });
        if listener.wants_stop() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    let decode = |hypotheses: Vec<Hypothesis>| Ok(dataset.vocabulary.decode(&hypotheses[0].tokens)?);
    found.map(|found| found.into_iter().map(decode).collect()).transpose()
}

/// One output under every signature that is compared with published numbers.
fn scores(hypotheses: &[String], references: &[String]) -> Result<BleuScores, RunError> {
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
