//! A web server for one test: it serves one file as its script says, and remembers what it was asked and how much it
//! sent.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long a stalled connection is kept open, unless the other side gives up first.
const STALL: Duration = Duration::from_secs(20);

/// What one request asked for, and how many bytes of the file it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    pub start: Option<usize>,
    pub if_range: Option<String>,
    pub sent: usize,
}

/// How one request is answered.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    pub tag: Option<&'static str>,
    /// Whether a range is answered as such.
    pub knows_ranges: bool,
    /// Whether a range is answered as such though the file is no longer the one asked for.
    pub ignores_if_range: bool,
    /// Whether the answer says how long it is.
    pub has_length: bool,
    /// Added to the true length in `Content-Length`, and subtracted if negative.
    pub lie: isize,
    pub end: End,
    /// Between two blocks of 4096 bytes.
    pub pace: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Whole,
    /// The connection ends after so many bytes of the body.
    CutAfter(usize),
    /// Nothing more comes after so many bytes of the body.
    StallAfter(usize),
}

impl Reply {
    /// The file as a good server sends it.
    pub fn good(body: &[u8]) -> Self {
        Self {
            status: 200,
            body: body.to_owned(),
            tag: Some("\"one\""),
            knows_ranges: true,
            ignores_if_range: false,
            has_length: true,
            lie: 0,
            end: End::Whole,
            pace: Duration::ZERO,
        }
    }

    pub fn cut(body: &[u8], after: usize) -> Self {
        Self {
            end: End::CutAfter(after),
            ..Self::good(body)
        }
    }

    pub fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::good(b"no")
        }
    }
}

pub struct Server {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers the n-th request, counted from 0, with `script(n)`.
    pub fn start(script: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                thread::spawn(move || serve(&stream, &*script, &log));
            }
        });
        Self { address, seen }
    }

    /// The same reply to every request.
    pub fn of(reply: Reply) -> Self {
        Self::start(move |_| reply.clone())
    }

    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no test panics in it").clone()
    }

    /// Bytes of the file in all answers.
    pub fn sent(&self) -> usize {
        self.seen().iter().map(|seen| seen.sent).sum()
    }
}

fn serve(mut stream: &TcpStream, script: &(dyn Fn(usize) -> Reply + Send + Sync), log: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let Some(mut head) = read_head(&mut reader) else { return };
    if head.method == "CONNECT" {
        // A proxy that leads to itself.
        if stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").is_err() {
            return;
        }
        let Some(inner) = read_head(&mut reader) else { return };
        head = inner;
    }
    let number = {
        let mut log = log.lock().expect("no test panics in it");
        log.push(head.seen);
        log.len() - 1
    };
    let seen = log.lock().expect("no test panics in it")[number].clone();
    // The other side may have gone: then this connection is over.
    let _ = answer(stream, &script(number), &seen, &mut |sent| {
        log.lock().expect("no test panics in it")[number].sent += sent;
    });
}

struct Head {
    method: String,
    seen: Seen,
}

fn read_head(reader: &mut impl BufRead) -> Option<Head> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut seen = Seen {
        path,
        start: None,
        if_range: None,
        sent: 0,
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else {
            return Some(Head { method, seen });
        };
        let value = value.trim();
        match name.to_lowercase().as_str() {
            "range" => seen.start = value.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok(),
            "if-range" => seen.if_range = Some(value.to_owned()),
            _ => {}
        }
    }
}

fn answer(mut stream: &TcpStream, reply: &Reply, seen: &Seen, sent: &mut dyn FnMut(usize)) -> std::io::Result<()> {
    let is_known = reply.ignores_if_range || seen.if_range.as_deref() == reply.tag;
    let start = seen
        .start
        .filter(|_| reply.status == 200 && reply.knows_ranges && is_known);
    let total = reply.body.len();
    let (status, start, range) = match start {
        Some(start) if start >= total => (416, total, format!("Content-Range: bytes */{total}\r\n")),
        Some(start) => (
            206,
            start,
            format!("Content-Range: bytes {start}-{}/{total}\r\n", total - 1),
        ),
        None => (reply.status, 0, String::new()),
    };
    let body = &reply.body[start..];
    let length = format!("Content-Length: {}\r\n", body.len().saturating_add_signed(reply.lie));
    let length = if reply.has_length { length.as_str() } else { "" };
    let tag = reply.tag.map(|tag| format!("ETag: {tag}\r\n")).unwrap_or_default();
    write!(
        stream,
        "HTTP/1.1 {status} Words\r\n{length}{range}{tag}Connection: close\r\n\r\n"
    )?;
    let end = match reply.end {
        End::Whole => body.len(),
        End::CutAfter(bytes) | End::StallAfter(bytes) => bytes.min(body.len()),
    };
    for block in body[..end].chunks(4096) {
        stream.write_all(block)?;
        sent(block.len());
        thread::sleep(reply.pace);
    }
    if matches!(reply.end, End::StallAfter(_)) {
        thread::sleep(STALL);
    }
    Ok(())
}
