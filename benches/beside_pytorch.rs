//! This library's side of the comparison in `benches/pytorch`: a server that reads one JSON command per line and
//! answers each with one line. `benches/pytorch/compare.py` starts it with `--serve` and measures it in turn with its
//! peers; while it waits for a command it uses no processor.

mod common;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ablate::model::{Batch, EOS, NamedArray, Seq2Seq};
use ablate::ops::cpu::has_bf16;
use ablate::spec::Precision;
use ablate::threads::use_threads;
use common::{D64, D128, D128_DEEP, D256, D512, Shape, train_step, translate};
use safetensors::tensor::{Dtype, TensorView};
use serde::Deserialize;
use serde_json::{Value, json};

const SHAPES: [Shape; 5] = [D64, D128, D128_DEEP, D256, D512];

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
enum Command {
    /// Answers as soon as the process runs.
    Ready,
    /// Says which shapes there are.
    Shapes,
    /// Makes a fresh model.
    Load {
        shape: String,
        precision: String,
        threads: NonZero<usize>,
    },
    /// One training step on pairs of source and target tokens without their ends.
    Step {
        pairs: Vec<(Vec<u32>, Vec<u32>)>,
    },
    /// Makes weights that a search is worth comparing with.
    Stir,
    /// Writes the weights as safetensors.
    Export {
        path: PathBuf,
    },
    /// Beam-4 translation of sources without their ends.
    Translate {
        sources: Vec<Vec<u32>>,
    },
    Quit,
}

fn main() -> io::Result<()> {
    // `cargo bench` starts every bench target.
    if !std::env::args().any(|argument| argument == "--serve") {
        println!("beside_pytorch: measured by `just bench-pytorch`, not by itself");
        return Ok(());
    }
    let mut server = Server::default();
    for line in io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(Command::Quit) => break,
            Ok(command) => server.answer(command),
            Err(error) => Err(error.into()),
        };
        let answer = answer.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

#[derive(Default)]
struct Server {
    model: Option<Box<dyn Seq2Seq>>,
    precision: Precision,
    steps: usize,
}

impl Server {
    fn answer(&mut self, command: Command) -> Result<Value, Box<dyn Error>> {
        match command {
            Command::Ready => Ok(json!({})),
            Command::Shapes => Ok(SHAPES.iter().map(describe).collect::<serde_json::Map<_, _>>().into()),
            Command::Load {
                shape,
                precision,
                threads,
            } => {
                let known = SHAPES.iter().find(|known| known.name == shape);
                use_threads(threads);
                self.precision = match &precision[..] {
                    "f32" => Precision::F32,
                    "bf16" if has_bf16() => Precision::Bf16,
                    "bf16" => return Err("this CPU has no AVX512-BF16".into()),
                    _ => return Err(format!("there is no precision {precision}").into()),
                };
                self.model = Some(known.ok_or_else(|| format!("there is no shape {shape}"))?.model());
                self.steps = 0;
                Ok(json!({ "threads": ablate::threads::threads() }))
            }
            Command::Step { pairs } => {
                let pairs: Vec<(&[u32], &[u32])> = pairs
                    .iter()
                    .map(|(source, target)| (&source[..], &target[..]))
                    .collect();
                let batch = Batch::from_pairs(&pairs);
                self.steps += 1;
                let (step, precision) = (self.steps, self.precision);
                let model = self.model()?;
                let start = Instant::now();
                let loss = train_step(model, &batch, step, precision);
                Ok(json!({ "seconds": start.elapsed().as_secs_f64(), "loss": loss.smoothed() }))
            }
            Command::Stir => {
                stir(self.model()?)?;
                Ok(json!({}))
            }
            Command::Export { path } => {
                export(&self.model()?.weights(), &path)?;
                Ok(json!({}))
            }
            Command::Translate { sources } => {
                let model = self.model()?;
                let start = Instant::now();
                let translations = translate(model, &sources);
                let seconds = start.elapsed().as_secs_f64();
                let best: Vec<&[u32]> = translations
                    .iter()
                    .map(|hypotheses| &hypotheses[0].tokens[..])
                    .collect();
                Ok(json!({ "seconds": seconds, "best": best }))
            }
            Command::Quit => unreachable!("the caller has stopped"),
        }
    }

    fn model(&mut self) -> Result<&mut (dyn Seq2Seq + 'static), &'static str> {
        self.model.as_deref_mut().ok_or("no model is loaded")
    }
}

fn describe(shape: &Shape) -> (String, Value) {
    let sizes = json!({
        "vocabulary": shape.vocabulary,
        "d_model": shape.d_model,
        "heads": shape.heads,
        "layers": shape.layers,
        "d_ff": shape.d_ff,
    });
    (shape.name.to_owned(), sizes)
}

/// Fresh weights say one token again and again: the residual connections carry it to a projection that is the embedding
/// itself, and what attention and rectified units add has a mean that is the same everywhere. Here sharp attention
/// makes every token depend on the source and on all tokens before it, the sums stay small, and half the gains before
/// the projection are negative. The end's embedding becomes zero: it is never among the best, and all translations are
/// as long as allowed.
fn stir(model: &mut dyn Seq2Seq) -> Result<(), Box<dyn Error>> {
    let mut weights = model.weights();
    for array in &mut weights {
        let factor = match array.name.rsplit('.').nth(1) {
            Some("query" | "key") => 6.0,
            Some("value" | "output") => 0.7,
            Some("outer") => 0.5,
            _ => continue,
        };
        array.values.iter_mut().for_each(|value| *value *= factor);
    }
    let mut arrays = weights.iter_mut();
    let embedding = arrays.find(|array| array.name == "embedding.weight");
    let embedding = embedding.ok_or("the model has no embedding")?;
    let width = embedding.shape[1];
    embedding.values[EOS as usize * width..][..width].fill(0.0);
    let gains = arrays.rfind(|array| array.name.ends_with("feed_forward_norm.weight"));
    let gains = gains.ok_or("the model has no last norm")?;
    gains.values.iter_mut().step_by(2).for_each(|gain| *gain = -*gain);
    model.restore_weights(&weights)?;
    Ok(())
}

fn export(weights: &[NamedArray], path: &Path) -> Result<(), Box<dyn Error>> {
    let bytes: Vec<Vec<u8>> = weights
        .iter()
        .map(|array| array.values.iter().flat_map(|value| value.to_le_bytes()).collect())
        .collect();
    let views: Vec<(&str, TensorView)> = weights
        .iter()
        .zip(&bytes)
        .map(|(array, bytes)| {
            Ok((
                &array.name[..],
                TensorView::new(Dtype::F32, array.shape.clone(), bytes)?,
            ))
        })
        .collect::<Result<_, safetensors::SafeTensorError>>()?;
    safetensors::serialize_to_file(views, None, path)?;
    Ok(())
}
