//! One run as a process: its events arrive line by line, and closing its standard input asks it to stop.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child as Process, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use crate::run::Event;

/// A message from a worker's process: an event, or the end of its output.
pub enum Message {
    Heard { worker: usize, event: Event },
    Closed { worker: usize },
}

/// Number of lines of standard error that are kept of a process.
const KEPT_LINES: usize = 12;

#[derive(Debug)]
pub struct Child {
    process: Process,
    stdin: Option<ChildStdin>,
    complaints: Option<JoinHandle<VecDeque<String>>>,
}

impl Child {
    /// Starts the command.
    pub fn start(mut command: Command, worker: usize, messages: Sender<Message>) -> io::Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let stdout = process.stdout.take().expect("standard output is piped");
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Another line is not for us: a library may print.
                if let Ok(event) = serde_json::from_str(&line)
                    && messages.send(Message::Heard { worker, event }).is_err()
                {
                    return;
                }
            }
            // If the sweep has ended, nobody waits for this.
            let _ = messages.send(Message::Closed { worker });
        });
        let stderr = process.stderr.take().expect("standard error is piped");
        Ok(Self {
            stdin: process.stdin.take(),
            complaints: Some(thread::spawn(move || last_lines(stderr))),
            process,
        })
    }

    /// Waits for the end of standard error and returns its last lines.
    pub fn complaints(&mut self) -> String {
        let lines = self.complaints.take().and_then(|thread| thread.join().ok());
        lines.unwrap_or_default().into_iter().collect::<Vec<_>>().join("\n")
    }

    /// Asks the run to finish its step, write a checkpoint and end.
    pub fn ask_to_stop(&mut self) {
        self.stdin = None;
    }

    pub fn kill(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
    }

    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }
}

fn last_lines(stream: impl Read) -> VecDeque<String> {
    let mut kept = VecDeque::new();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(line);
    }
    kept
}
