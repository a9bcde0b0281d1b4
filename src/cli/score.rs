//! `ablate score`: BLEU of files.

use std::path::Path;

use super::args::{ScoreArgs, SmoothingArg, TokenizerArg};
use super::failure::Failure;
use super::output::{put_line, warn};
use crate::data::read_utf8;
use crate::score::{
    Bleu, BleuConfig, Case, SacrebleuJson, Smoothing, Tokenizer, check_texts, corpus_bleu, split_lines,
    standard_configs,
};

pub fn score(args: &ScoreArgs) -> Result<(), Failure> {
    let hypotheses = read(&args.hypotheses)?;
    let references: Vec<Vec<String>> = args
        .references
        .iter()
        .map(|path| read(path))
        .collect::<Result<_, _>>()?;
    let references: Vec<&[String]> = references.iter().map(Vec::as_slice).collect();
    for warning in check_texts(&hypotheses, &references) {
        warn(warning);
    }
    let configs = if args.all {
        standard_configs().map(|(_, config)| config).to_vec()
    } else {
        vec![config(args)]
    };
    let scores: Vec<Bleu> = configs
        .into_iter()
        .map(|config| corpus_bleu(&hypotheses, &references, &config))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Data(error.to_string()))?;
    print(&scores, args);
    Ok(())
}

fn print(scores: &[Bleu], args: &ScoreArgs) {
    if !args.json {
        for bleu in scores {
            put_line(format_args!("{bleu}\n{}", bleu.signature));
        }
        return;
    }
    let json: Vec<SacrebleuJson> = scores.iter().map(SacrebleuJson).collect();
    let text = match &json[..] {
        [one] if !args.all => serde_json::to_string_pretty(one),
        all => serde_json::to_string_pretty(all),
    };
    put_line(text.expect("a score has a JSON form"));
}

fn config(args: &ScoreArgs) -> BleuConfig {
    BleuConfig {
        tokenizer: match args.tokenize {
            TokenizerArg::Mteval13a => Tokenizer::Mteval13a,
            TokenizerArg::None => Tokenizer::None,
            TokenizerArg::Intl => Tokenizer::International,
            TokenizerArg::Char => Tokenizer::Character,
            TokenizerArg::CompoundSplit => Tokenizer::CompoundSplit13a,
        },
        case: if args.lowercase { Case::Lower } else { Case::Mixed },
        smoothing: match args.smooth {
            SmoothingArg::Exp => Smoothing::Exponential,
            SmoothingArg::Floor => Smoothing::Floor(args.smooth_value.unwrap_or(0.1)),
            SmoothingArg::AddK => Smoothing::AddK(args.smooth_value.unwrap_or(1.0)),
            SmoothingArg::None => Smoothing::None,
        },
    }
}

fn read(path: &Path) -> Result<Vec<String>, Failure> {
    Ok(split_lines(&read_utf8(path)?))
}
