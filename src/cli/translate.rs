//! `ablate translate`: standard input through a finished run or an export.

use std::io::{IsTerminal, Read};

use indicatif::ProgressBar;

use super::args::TranslateArgs;
use super::failure::Failure;
use super::output::put_line;
use crate::results::RunFolder;
use crate::run::{Export, Trained};
use crate::score::split_lines;

pub fn translate(args: &TranslateArgs) -> Result<(), Failure> {
    let trained = open(args)?;
    let sentences = read_standard_input()?;
    let bar = ProgressBar::new(sentences.len() as u64);
    let translations = trained.translate(&sentences, args.beam.map(usize::from), |done| {
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    for translation in translations {
        put_line(translation);
    }
    Ok(())
}

/// A run, or an export of one.
fn open(args: &TranslateArgs) -> Result<Trained, Failure> {
    let folder = &args.folder;
    if let Some(export) = Export::open(folder) {
        return Ok(Trained::open_export(&export, args.device)?);
    }
    let run = RunFolder::open(folder).filter(|run| run.spec().is_file() && run.provenance().is_file());
    let run = run.ok_or_else(|| {
        let folder = folder.display();
        Failure::Usage(format!(
            "{folder} is neither the folder of a run nor an export, which has a model.safetensors"
        ))
    })?;
    let trained = Trained::open_run(&run, args.device, |note| eprintln!("warning: {note}"))?;
    Ok(trained)
}

fn read_standard_input() -> Result<Vec<String>, Failure> {
    if std::io::stdin().is_terminal() {
        eprintln!("one sentence per line, then Ctrl-D:");
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Io(format!("standard input: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::Data("standard input is not UTF-8".to_owned()))?;
    Ok(split_lines(&text))
}
