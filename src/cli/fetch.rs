//! `ablate data fetch`: a public corpus into the data folder.

use std::io::IsTerminal;
use std::path::Path;
use std::process::exit;
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, ProgressBar};

use super::args::FetchArgs;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::output::{put_line, tell};
use super::progress::style;
use crate::data::DEFAULT_FOLDER;
use crate::fetch::{Archive, Catalog, Corpus, DOWNLOADS, Event, Patience, Request, Source, fetch as fetch_corpus};

/// Time between two plain lines about one download.
const BETWEEN_LINES: Duration = Duration::from_secs(15);

pub fn fetch(args: &FetchArgs) -> Result<(), Failure> {
    let catalog = match &args.catalog {
        Some(path) => Catalog::read(path)?,
        None => Catalog::built_in(),
    };
    let corpus = catalog.corpus(&args.corpus)?;
    let data_dir = args.data_dir.as_deref().unwrap_or(Path::new(DEFAULT_FOLDER));
    if args.dry_run {
        show(corpus, data_dir, args);
        return Ok(());
    }
    stop_at_once();
    let request = Request {
        corpus,
        data_dir,
        mirror: args.mirror.as_ref(),
        patience: Patience {
            timeout: Duration::from_secs_f64(args.timeout),
            tries: args.tries,
        },
    };
    let mut display = Display::new();
    let result = fetch_corpus(&request, &mut |event| display.show(event));
    display.bar.finish_and_clear();
    result?;
    let folder = data_dir.join(&corpus.folder);
    put_line(format_args!("{} is in {}", corpus.name, folder.display()));
    put_note(corpus);
    Ok(())
}

/// Every state on the disk can be continued, so there is nothing to wait for.
fn stop_at_once() {
    let stop = || {
        let interrupted = Failure::Interrupted;
        tell(format_args!("\n{}", interrupted.text().unwrap_or_default()));
        exit(130)
    };
    Interrupt::listen(stop, stop);
}

fn show(corpus: &Corpus, data_dir: &Path, args: &FetchArgs) {
    put_line(format_args!("{}: {}\n", corpus.name, corpus.title));
    put_line(format_args!("archives, into {}", data_dir.join(DOWNLOADS).display()));
    for archive in &corpus.archives {
        let source = match Source::of(archive, args.mirror.as_ref()) {
            Source::Url(url) => url,
            Source::File(path) => path.display().to_string(),
        };
        let bytes = archive
            .bytes
            .map_or("size not known".to_owned(), |bytes| format!("{bytes} bytes"));
        put_line(format_args!("  {source}\n    {bytes}, {}", trust(corpus, archive)));
    }
    put_line(format_args!(
        "\nfiles, into {}",
        data_dir.join(&corpus.folder).display()
    ));
    for file in &corpus.files {
        let sha256 = file
            .sha256
            .map(|sha256| format!("  SHA-256 {sha256}"))
            .unwrap_or_default();
        put_line(format_args!("  {}{sha256}", file.name));
    }
    put_note(corpus);
}

fn trust(corpus: &Corpus, archive: &Archive) -> String {
    match archive.sha256 {
        Some(sha256) => format!("SHA-256 {sha256}"),
        None if corpus.files_vouch_for(archive) => "SHA-256 of its text is known".to_owned(),
        None => "SHA-256 not known: recorded at the first download".to_owned(),
    }
}

fn put_note(corpus: &Corpus) {
    if !corpus.note.is_empty() {
        put_line(format_args!("next: {}", corpus.note.trim()));
    }
}

/// A bar for the current download on a terminal, plain lines elsewhere.
struct Display {
    bar: ProgressBar,
    /// Archive of the bar or of the last line.
    subject: String,
    told: Instant,
}

impl Display {
    fn new() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            subject: String::new(),
            told: Instant::now(),
        }
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::Downloading { archive, done, total } => self.downloading(archive, done, total),
            Event::Retrying { archive, why, pause } => {
                let pause = pause.as_secs_f32();
                self.line(format_args!("warning: {archive}: {why}; trying again in {pause:.1} s"));
            }
            Event::Verifying { archive } => self.line(format_args!("{archive}: verifying")),
            Event::Making { file } => self.line(format_args!("{}: unpacking", file.display())),
            Event::Made { file, lines } => self.line(format_args!("{}: done, {lines} lines", file.display())),
            Event::Present { file } => self.line(format_args!("{}: already there", file.display())),
            Event::Note(text) => self.line(format_args!("warning: {text}")),
        }
    }

    fn downloading(&mut self, archive: String, done: u64, total: Option<u64>) {
        if self.subject != archive {
            self.begin(archive, done, total);
        }
        self.bar.set_position(done);
        if self.bar.is_hidden() && self.told.elapsed() >= BETWEEN_LINES {
            self.told = Instant::now();
            let total = total
                .map(|total| format!(" of {}", DecimalBytes(total)))
                .unwrap_or_default();
            tell(format_args!("{}: {}{total}", self.subject, DecimalBytes(done)));
        }
    }

    fn begin(&mut self, archive: String, done: u64, total: Option<u64>) {
        self.bar.finish_and_clear();
        if std::io::stderr().is_terminal() {
            self.bar = total
                .map_or_else(ProgressBar::no_length, ProgressBar::new)
                .with_position(done);
            self.bar.set_style(style(template(total)));
            self.bar.set_message(archive.clone());
            self.bar.reset_eta();
        } else if done > 0 {
            tell(format_args!("{archive}: continuing after {}", DecimalBytes(done)));
        } else {
            tell(format_args!("{archive}: downloading"));
        }
        self.subject = archive;
        self.told = Instant::now();
    }

    /// A line that stays.
    fn line(&mut self, text: std::fmt::Arguments) {
        self.bar.suspend(|| tell(text));
    }
}

fn template(total: Option<u64>) -> &'static str {
    match total {
        Some(_) => "{msg} {bar:16} {decimal_bytes}/{decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left",
        None => "{msg} {decimal_bytes}, {decimal_bytes_per_sec}",
    }
}
