//! `ablate translate --attention`: the attention weights of every head, a line of JSON for every sentence.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::failure::Failure;
use super::output::write_json_line;
use crate::decode::Hypothesis;
use crate::durable;
use crate::model::{AttentionMaps, BOS, EOS, Map};
use crate::run::Trained;

/// A sentence and its best hypothesis. All lists of an empty sentence are empty: the model does not run on it.
#[derive(Serialize)]
struct Json<'a> {
    line: usize,
    /// Columns of encoder self-attention and of cross-attention, and rows of the former.
    source_tokens: Vec<String>,
    /// Input of the decoder: the columns of its self-attention.
    target_input_tokens: Vec<String>,
    /// Output of the decoder: the rows of its self-attention and of cross-attention.
    target_tokens: Vec<String>,
    /// `[layer][head][source][source]`.
    encoder_self_attention: &'a [Vec<Map>],
    /// `[layer][head][target][target input]`.
    decoder_self_attention: &'a [Vec<Map>],
    /// `[layer][head][target][source]`.
    cross_attention: &'a [Vec<Map>],
}

pub fn write(
    path: &Path,
    trained: &Trained,
    sources: &[Vec<u32>],
    translations: &[Vec<Hypothesis>],
) -> Result<(), Failure> {
    let attention = trained.attention();
    let write = || {
        let mut file = durable::begin(path)?;
        for (line, (source, hypotheses)) in (1..).zip(sources.iter().zip(translations)) {
            let target = &hypotheses[0].tokens;
            let (tokens, maps) = if source.is_empty() {
                (<[Vec<u32>; 3]>::default(), AttentionMaps::default())
            } else {
                let tokens = [
                    [source, &[EOS][..]].concat(),
                    [&[BOS], &target[..]].concat(),
                    [target, &[EOS][..]].concat(),
                ];
                (tokens, attention(source, target))
            };
            write_line(&mut file, trained, line, &tokens, &maps)?;
        }
        file.finish()
    };
    write().map_err(Failure::io(path))
}

/// Writes one sentence. `tokens` are those of the source, the input of the decoder and its output.
fn write_line(
    file: &mut dyn Write,
    trained: &Trained,
    line: usize,
    tokens: &[Vec<u32>; 3],
    maps: &AttentionMaps,
) -> io::Result<()> {
    let [source_tokens, target_input_tokens, target_tokens] = tokens.each_ref().map(|tokens| trained.names(tokens));
    let json = Json {
        line,
        source_tokens,
        target_input_tokens,
        target_tokens,
        encoder_self_attention: &maps.encoder,
        decoder_self_attention: &maps.decoder,
        cross_attention: &maps.cross,
    };
    write_json_line(file, &json)
}
