//! Progress on standard error: bars on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{FormattedDuration, HumanCount, MultiProgress, ProgressBar, ProgressStyle};

use super::output::tell;
use crate::record::Ending;
use crate::run::{Event, Scores};

/// Time between two plain lines about the training of one run.
const BETWEEN_LINES: Duration = Duration::from_secs(15);

/// Smallest width of a terminal with room for bars.
const WIDE_COLUMNS: u16 = 76;

/// The progress of one or several runs.
pub struct Display {
    bars: Option<MultiProgress>,
    /// Bar of all runs together, if there are several.
    total: Option<ProgressBar>,
    runs: BTreeMap<String, Shown>,
    /// Whether the terminal has no room for bars beside the numbers.
    is_narrow: bool,
}

struct Shown {
    bar: ProgressBar,
    told: Instant,
}

impl Display {
    /// Shows `runs` runs, of which `done` need nothing more.
    pub fn new(runs: usize, done: usize) -> Self {
        let bars = std::io::stderr().is_terminal().then(MultiProgress::new);
        let total = bars.as_ref().filter(|_| runs > 1).map(|bars| {
            let bar = bars.add(ProgressBar::new(runs as u64).with_position(done as u64));
            bar.set_style(style("{msg:10} {bar:16} {pos}/{len} runs, {elapsed} so far"));
            bar.set_message("all");
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        });
        Self {
            bars,
            total,
            runs: BTreeMap::new(),
            is_narrow: Term::stderr().size().1 < WIDE_COLUMNS,
        }
    }

    pub fn start(&mut self, run: &str) {
        let bar = match (&self.bars, &self.total) {
            (Some(bars), Some(total)) => bars.insert_before(total, ProgressBar::new(1)),
            (Some(bars), None) => bars.add(ProgressBar::new(1)),
            (None, _) => ProgressBar::hidden(),
        };
        bar.set_style(style(if self.is_narrow {
            "{prefix} {wide_msg}"
        } else {
            "{prefix:10} {bar:16} {wide_msg}"
        }));
        bar.set_prefix(run.to_owned());
        self.runs.insert(
            run.to_owned(),
            Shown {
                bar,
                told: Instant::now(),
            },
        );
        if self.bars.is_none() {
            tell(format_args!("{run}: started"));
        }
    }

    pub fn show(&mut self, run: &str, event: &Event) {
        let Some(shown) = self.runs.get_mut(run) else { return };
        if let Some((position, length)) = extent(event) {
            shown.bar.set_length(length.max(1) as u64);
            shown.bar.set_position(position as u64);
        }
        let text = text(event);
        if let Event::Note { .. } = event {
            let line = format!("{run}: {text}");
            self.line(&line);
        } else {
            shown.bar.set_message(text.clone());
            let rare = matches!(
                event,
                Event::Preparing
                    | Event::Training { .. }
                    | Event::Validated { .. }
                    | Event::Translating { done: 0, .. }
            );
            if self.bars.is_none() && (rare || shown.told.elapsed() >= BETWEEN_LINES) {
                shown.told = Instant::now();
                tell(format_args!("{run}: {text}"));
            }
        }
    }

    /// Shows the last event of a run.
    pub fn end(&mut self, run: &str, event: &Event) {
        if let Some(shown) = self.runs.remove(run) {
            shown.bar.finish_and_clear();
        }
        self.line(&format!("{run}: {}", text(event)));
        if let Some(total) = &self.total {
            total.inc(1);
        }
    }

    /// Prints a line that stays.
    pub fn line(&self, text: &str) {
        match &self.bars {
            // Printing fails only with the terminal itself.
            Some(bars) => {
                let _ = bars.println(text);
            }
            None => tell(text),
        }
    }

    pub fn close(&mut self) {
        if let Some(total) = &self.total {
            total.finish_and_clear();
        }
    }
}

/// Returns the look of the bars of all commands.
pub fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("a template of ours")
        .progress_chars("=> ")
}

/// Returns the position of a bar and its length.
fn extent(event: &Event) -> Option<(usize, usize)> {
    match event {
        Event::Training { step, steps, .. } | Event::Update { step, steps, .. } => Some((*step, *steps)),
        Event::Translating { done, sentences } => Some((*done, *sentences)),
        _ => None,
    }
}

fn text(event: &Event) -> String {
    match event {
        Event::Preparing => "preparing the corpus".to_owned(),
        Event::Training {
            step: 0,
            steps,
            parameters,
        } => format!(
            "training {} parameters for {steps} steps",
            HumanCount(*parameters as u64)
        ),
        Event::Training { step, steps, .. } => format!("continuing after step {step} of {steps}"),
        Event::Update {
            step,
            steps,
            loss_nats,
            tokens_per_s,
            remaining_s,
        } => {
            let left = duration(*remaining_s);
            format!(
                "{step}/{steps}  loss {loss_nats:.3}  {:.1}k tok/s  {left} left",
                tokens_per_s / 1e3
            )
        }
        Event::Validated { step, dev_ppl } => format!("step {step}: dev perplexity {dev_ppl:.3}"),
        Event::Translating { done, sentences } => format!("translating, {done} of {sentences} sentences"),
        Event::Note { text } => text.clone(),
        Event::Ended(Ending::Done(Scores { ppl, bleu })) => format!("done: perplexity {ppl:.3}, BLEU {bleu:.2}"),
        Event::Ended(Ending::Diverged { step }) => format!("DIVERGED at step {step}"),
        Event::Ended(Ending::Failed { reason }) => format!("FAILED\n{}", indented(reason)),
        Event::Interrupted { step: Some(step) } => format!("interrupted after step {step}"),
        Event::Interrupted { step: None } => "interrupted".to_owned(),
    }
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Formats seconds: `01:02:03`, and days as in `3d 01:02:03`.
pub fn duration(seconds: f64) -> String {
    FormattedDuration(Duration::from_secs(seconds.round() as u64)).to_string()
}
