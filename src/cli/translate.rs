//! `ablate translate`: standard input through a finished run or an export.

use std::io::{IsTerminal, Read};
use std::path::Path;

use indicatif::ProgressBar;
use serde::Serialize;

use super::args::TranslateArgs;
use super::attention;
use super::failure::Failure;
use super::output::{check_file, put_line, tell, warn};
use crate::data::utf8;
use crate::decode::Hypothesis;
use crate::record::RunFolder;
use crate::run::{Device, Export, Trained};
use crate::score::split_lines;
use crate::spec::Decoding;

/// Name of standard input in errors.
const STANDARD_INPUT: &str = "standard input";

/// Number of tokens: far more than any sentence has, and few enough for every machine.
const LONGEST_LINE: usize = 4096;

pub fn translate(args: &TranslateArgs) -> Result<(), Failure> {
    let trained = open(args)?;
    let decoding = decoding(args, trained.decoding())?;
    args.attention.as_deref().map_or(Ok(()), check_file)?;
    let wanted = args.n_best.map_or(1, usize::from);
    let sources = trained.encode(&read_standard_input()?)?;
    check_lengths(&sources)?;
    let bar = ProgressBar::new(sources.len() as u64);
    let found = trained.translate(&sources, &decoding, wanted, |done| bar.set_position(done as u64));
    bar.finish_and_clear();
    // Before anything is printed: whoever reads that may leave, which ends the program.
    if let Some(path) = &args.attention {
        attention::write(path, &trained, &sources, &found)?;
    }
    for (index, (source, hypotheses)) in sources.iter().zip(&found).enumerate() {
        for (rank, hypothesis) in (1..).zip(hypotheses) {
            let place = Place { line: index + 1, rank };
            put_line(shown(args, &trained, place, source, hypothesis)?);
        }
    }
    Ok(())
}

/// Checks that no line is too long: time and memory grow with the square of a line's length.
fn check_lengths(sources: &[Vec<u32>]) -> Result<(), Failure> {
    let too_long = (1..).zip(sources).find(|(_, source)| source.len() > LONGEST_LINE);
    too_long.map_or(Ok(()), |(line, source)| {
        Err(Failure::Data(format!(
            "{STANDARD_INPUT}:{line}: found {} tokens, expected {LONGEST_LINE} at most",
            source.len()
        )))
    })
}

/// Opens a run or an export.
fn open(args: &TranslateArgs) -> Result<Trained, Failure> {
    let folder = &args.folder;
    if let Some(export) = Export::open(folder) {
        return Ok(Trained::open_export(&export, Device::of_wish(args.device))?);
    }
    let run = RunFolder::open(folder).filter(|run| run.spec().is_file() && run.checkpoints().is_dir());
    let run = run.ok_or_else(|| {
        let folder = folder.display();
        Failure::Usage(format!(
            "{folder} is neither the folder of a run, which is called ROW-sSEED, nor an export, which has a model.safetensors"
        ))
    })?;
    let trained = Trained::open_run(&run, Device::of_wish(args.device), warn)?;
    Ok(trained)
}

/// Decoding settings of the run, with the changes of the command line.
fn decoding(args: &TranslateArgs, own: &Decoding) -> Result<Decoding, Failure> {
    let decoding = Decoding {
        beam: args.beam.unwrap_or(own.beam),
        length_penalty: args.length_penalty.unwrap_or(own.length_penalty),
        max_extra_tokens: args.max_extra_tokens.unwrap_or(own.max_extra_tokens),
    };
    let beam = decoding.beam;
    if let Some(n_best) = args.n_best.map(usize::from).filter(|&n_best| n_best > beam) {
        return Err(Failure::Usage(format!(
            "--n-best {n_best} is more than a beam of {beam} holds; add --beam {n_best}"
        )));
    }
    if beam == 1 && args.length_penalty.is_some() {
        return Err(Failure::Usage(
            "--length-penalty has no effect with a beam of 1, which ranks nothing; add --beam 4".to_owned(),
        ));
    }
    Ok(decoding)
}

/// Place of a hypothesis; both numbers count from 1.
#[derive(Clone, Copy, Serialize)]
struct Place {
    line: usize,
    rank: usize,
}

/// A hypothesis as `--json` prints it.
#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    place: Place,
    score: f64,
    log_probability: f64,
    text: String,
    source_tokens: Vec<String>,
    tokens: Vec<String>,
}

fn shown(
    args: &TranslateArgs,
    trained: &Trained,
    place: Place,
    source: &[u32],
    hypothesis: &Hypothesis,
) -> Result<String, Failure> {
    let text = trained.text(&hypothesis.tokens)?;
    let Hypothesis {
        score, log_probability, ..
    } = *hypothesis;
    if args.json {
        let json = Json {
            place,
            score,
            log_probability,
            text,
            source_tokens: trained.names(source),
            tokens: trained.names(&hypothesis.tokens),
        };
        return Ok(serde_json::to_string(&json).expect("texts and numbers have a JSON form"));
    }
    Ok(match args.n_best {
        Some(_) => format!("{}\t{}\t{score}\t{log_probability}\t{text}", place.line, place.rank),
        None => text,
    })
}

fn read_standard_input() -> Result<Vec<String>, Failure> {
    if std::io::stdin().is_terminal() {
        tell("one sentence per line, then Ctrl-D:");
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(Failure::io(Path::new(STANDARD_INPUT)))?;
    Ok(split_lines(&utf8(Path::new(STANDARD_INPUT), bytes)?))
}
