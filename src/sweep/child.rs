//! One run as a process: what it tells arrives line by line, and closing its standard input asks it to stop.

use std::io::{self, BufRead, BufReader};
use std::process::{Child as Process, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use crate::run::Event;

/// What a worker's process says, or that it will say no more.
pub enum Message {
    Heard { worker: usize, event: Event },
    Closed { worker: usize },
}

#[derive(Debug)]
pub struct Child {
    process: Process,
    stdin: Option<ChildStdin>,
}

impl Child {
    /// Starts the command; its standard error goes where the caller said.
    pub fn start(mut command: Command, worker: usize, messages: Sender<Message>) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = process.stdout.take().expect("standard output is piped");
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // A line that is no event is not for us: a library may print.
                if let Ok(event) = serde_json::from_str(&line)
                    && messages.send(Message::Heard { worker, event }).is_err()
                {
                    return;
                }
            }
            // The sweep may be gone by now, and then nobody waits for this.
            let _ = messages.send(Message::Closed { worker });
        });
        Ok(Self {
            stdin: process.stdin.take(),
            process,
        })
    }

    /// Asks the run to finish its step, write a checkpoint and end.
    pub fn ask_to_stop(&mut self) {
        self.stdin = None;
    }

    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
    }

    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }
}
