//! `ablate translate --attention`: what every head looked at, a line of JSON for every sentence.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::failure::Failure;
use super::output::write_json_line;
use crate::decode::Hypothesis;
use crate::durable;
use crate::model::{AttentionMaps, BOS, EOS, Map};
use crate::run::Trained;

/// A sentence and its best hypothesis. All lists of an empty sentence are empty: the model is not asked about it.
#[derive(Serialize)]
struct Json<'a> {
    line: usize,
    /// Columns of encoder self-attention and of cross-attention, and rows of the former.
    source_pieces: Vec<String>,
    /// What the decoder reads: the columns of its self-attention.
    target_input_pieces: Vec<String>,
    /// What the decoder says: the rows of its self-attention and of cross-attention.
    target_pieces: Vec<String>,
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
            let said = &hypotheses[0].tokens;
            let (pieces, maps) = if source.is_empty() {
                (<[Vec<u32>; 3]>::default(), AttentionMaps::default())
            } else {
                let pieces = [
                    [source, &[EOS][..]].concat(),
                    [&[BOS], &said[..]].concat(),
                    [said, &[EOS][..]].concat(),
                ];
                (pieces, attention(source, said))
            };
            write_line(&mut file, trained, line, &pieces, &maps)?;
        }
        file.finish()
    };
    write().map_err(Failure::io(path))
}

/// `pieces` are those of the source, and those that the decoder reads and says.
fn write_line(
    file: &mut dyn Write,
    trained: &Trained,
    line: usize,
    pieces: &[Vec<u32>; 3],
    maps: &AttentionMaps,
) -> io::Result<()> {
    let [source_pieces, target_input_pieces, target_pieces] = pieces.each_ref().map(|pieces| trained.names(pieces));
    let json = Json {
        line,
        source_pieces,
        target_input_pieces,
        target_pieces,
        encoder_self_attention: &maps.encoder,
        decoder_self_attention: &maps.decoder,
        cross_attention: &maps.cross,
    };
    write_json_line(file, &json)
}
