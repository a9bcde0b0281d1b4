//! `ablate translate`: standard input through a finished run.

use std::io::{IsTerminal, Read};

use indicatif::ProgressBar;

use super::args::TranslateArgs;
use super::failure::Failure;
use super::output::put_line;
use crate::results::RunFolder;
use crate::run::Trained;
use crate::score::split_lines;

pub fn translate(args: &TranslateArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.run)
        .ok_or_else(|| Failure::Usage(format!("{} is not the folder of a run", args.run.display())))?;
    let trained = Trained::open(&folder, args.device, |note| eprintln!("warning: {note}"))?;
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
