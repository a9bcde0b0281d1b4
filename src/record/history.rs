//! Measurements during training, one CSV row each.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::RecordError;

const HEADER: &str = "step,split,loss_nats,ppl,lr,grad_norm,tokens_per_s,bleu\n";

/// Split that a history row was measured on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistorySplit {
    Train,
    Dev,
}

/// One measurement; a value that was not measured is an empty cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// Number of updates before the measurement.
    pub step: u64,
    pub split: HistorySplit,
    /// Unsmoothed negative log-likelihood per target token; not finite if the run diverged.
    pub loss_nats: Option<f64>,
    pub ppl: Option<f64>,
    pub lr: Option<f64>,
    pub grad_norm: Option<f64>,
    pub tokens_per_s: Option<f64>,
    /// BLEU of greedy translations, if the best weights are chosen by it.
    pub bleu: Option<f64>,
}

/// An open `history.csv`.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    file: File,
}

impl History {
    /// Opens the history at `path`, or starts one. Drops a last line that a killed run left incomplete.
    ///
    /// # Errors
    /// When the file system refuses, or the file is not a history.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let whole = if path.exists() { whole_lines(path)?.len() } else { 0 };
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let mut history = Self {
            path: path.to_owned(),
            file: open.map_err(RecordError::write(path))?,
        };
        history.cut_at(whole as u64)?;
        if whole == 0 {
            history.write(HEADER.as_bytes())?;
        }
        Ok(history)
    }

    /// Adds one row. It survives the end of this process, and after [`History::sync`] also a power cut.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn append(&mut self, row: &HistoryRow) -> Result<(), RecordError> {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.serialize(row).expect("a history row has a CSV form");
        let line = writer.into_inner().expect("a vector takes all bytes");
        self.write(&line)
    }

    /// Drops the rows after `step`: a run resumed there measures them again.
    ///
    /// Keeps the rows of `step` itself, so a run writes them before the checkpoint of that step.
    ///
    /// # Errors
    /// When the file system refuses, or a row cannot be read.
    pub fn truncate_after(&mut self, step: u64) -> Result<(), RecordError> {
        let bytes = whole_lines(&self.path)?;
        let first_later = rows_at(&self.path, &bytes)?
            .into_iter()
            .find(|(_, row)| row.step > step);
        match first_later {
            Some((offset, _)) => self.cut_at(offset),
            None => Ok(()),
        }
    }

    /// Makes every row so far survive a power cut.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn sync(&self) -> Result<(), RecordError> {
        self.file.sync_data().map_err(RecordError::write(&self.path))
    }

    /// Reads all complete rows of the history at `path`, in the order in which they were written.
    ///
    /// # Errors
    /// When the file cannot be read, or a complete line is not a history row.
    pub fn read(path: &Path) -> Result<Vec<HistoryRow>, RecordError> {
        Ok(rows_at(path, &whole_lines(path)?)?
            .into_iter()
            .map(|(_, row)| row)
            .collect())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        self.file.write_all(bytes).map_err(RecordError::write(&self.path))
    }

    fn cut_at(&mut self, length: u64) -> Result<(), RecordError> {
        let cut = self
            .file
            .set_len(length)
            .and_then(|()| self.file.seek(SeekFrom::Start(length)));
        cut.map(|_| ()).map_err(RecordError::write(&self.path))
    }
}

/// Reads the file without an incomplete last line.
fn whole_lines(path: &Path) -> Result<Vec<u8>, RecordError> {
    let mut bytes = fs::read(path).map_err(RecordError::read(path))?;
    let whole = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |newline| newline + 1);
    bytes.truncate(whole);
    Ok(bytes)
}

/// Returns each row with the byte at which it starts.
fn rows_at(path: &Path, bytes: &[u8]) -> Result<Vec<(u64, HistoryRow)>, RecordError> {
    let fault = |source| RecordError::History {
        path: path.to_owned(),
        source,
    };
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().map_err(fault)?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(fault)?;
        let offset = record.position().expect("a record that was read has a position").byte();
        rows.push((offset, record.deserialize(Some(&header)).map_err(fault)?));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: u64, split: HistorySplit) -> HistoryRow {
        let loss_nats = 9.0 / (1.0 + step as f64);
        let train = |value: f64| (split == HistorySplit::Train).then_some(value);
        HistoryRow {
            step,
            split,
            loss_nats: Some(loss_nats),
            ppl: Some(loss_nats.exp()),
            lr: train(1e-7 * step as f64),
            grad_norm: train(0.1),
            tokens_per_s: train(12_345.678),
            bleu: None,
        }
    }

    fn undisturbed(path: &Path) -> Vec<HistoryRow> {
        let mut history = History::open(path).unwrap();
        let rows: Vec<_> = (1..=6)
            .flat_map(|n| [row(n * 10, HistorySplit::Train), row(n * 10, HistorySplit::Dev)])
            .collect();
        for row in &rows {
            history.append(row).unwrap();
        }
        history.sync().unwrap();
        rows
    }

    #[test]
    fn rows_come_back_as_written_and_missing_values_are_empty_cells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        let rows = undisturbed(&path);
        assert_eq!(History::read(&path).unwrap(), rows);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(HEADER));
        assert!(
            text.lines().nth(2).unwrap().ends_with(",,,,"),
            "a dev row has no lr, gradient norm or speed: {text}"
        );
    }

    #[test]
    fn a_run_resumed_after_a_kill_writes_what_an_undisturbed_one_writes() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, killed) = (folder.path().join("whole.csv"), folder.path().join("killed.csv"));
        let rows = undisturbed(&whole);
        let bytes = fs::read(&whole).unwrap();
        for length in 0..=bytes.len() {
            fs::write(&killed, &bytes[..length]).unwrap();
            let kept = History::read(&killed).unwrap_or_default();
            for resumed_from in [0, 10, 25, 30, 60]
                .into_iter()
                .filter(|&step| step <= 10 * (kept.len() as u64 / 2))
            {
                let mut history = History::open(&killed).unwrap();
                history.truncate_after(resumed_from).unwrap();
                rows.iter()
                    .filter(|row| row.step > resumed_from)
                    .for_each(|row| history.append(row).unwrap());
                assert!(
                    fs::read(&killed).unwrap() == bytes,
                    "killed at byte {length}, resumed from step {resumed_from}"
                );
            }
        }
    }

    #[test]
    fn a_diverged_loss_is_kept_as_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        let diverged = HistoryRow {
            loss_nats: Some(f64::NAN),
            ..row(1, HistorySplit::Train)
        };
        History::open(&path).unwrap().append(&diverged).unwrap();
        assert!(History::read(&path).unwrap()[0].loss_nats.unwrap().is_nan());
    }

    #[test]
    fn a_spoilt_line_in_the_middle_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        fs::write(
            &path,
            format!("{HEADER}1,train,2.5,,,,,\n2,tr\u{0}in,2.5,,,,,\n3,train,2.5,,,,,\n"),
        )
        .unwrap();
        let message = History::read(&path).unwrap_err().to_string();
        assert!(
            message.contains("history.csv") && message.contains("line: 3"),
            "{message}"
        );
    }
}
