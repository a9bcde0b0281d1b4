//! One request and its answer.

use std::io::{self, Read};
use std::time::Duration;

use ureq::http::{HeaderMap, Response, header};
use ureq::{Agent, Body, BodyReader, Error};

const USER_AGENT: &str = concat!("ablate/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub struct Client {
    agent: Agent,
    timeout: Duration,
}

/// The length of the whole file and what tells its versions apart, as far as the server says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub total: Option<u64>,
    /// An entity tag or a date, for `If-Range`.
    pub validator: Option<String>,
}

pub enum Answer {
    /// The file from its first byte on.
    Whole(Version, BodyReader<'static>),
    /// The file from `start` on.
    Rest {
        start: u64,
        version: Version,
        body: BodyReader<'static>,
    },
    /// The file ends before the byte that was asked for.
    NothingMore(Version),
}

/// Why there is no answer, or not all of one.
#[derive(Debug)]
pub enum Problem {
    /// It may work the next time.
    Passing(String),
    /// The server said nothing at all.
    Silence(String),
    Lasting(String),
}

impl Client {
    /// Gives up a connection on which nothing comes for `timeout`. A proxy is taken from the usual variables of the
    /// environment.
    pub fn new(timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .user_agent(USER_AGENT)
            .http_status_as_error(false)
            .timeout_resolve(Some(timeout))
            .timeout_connect(Some(timeout))
            .timeout_recv_response(Some(timeout))
            .timeout_per_read(Some(timeout))
            .timeout_per_write(Some(timeout))
            // A try follows an error, and must not meet the connection that failed.
            .max_idle_connections(0)
            .build();
        Self {
            agent: config.into(),
            timeout,
        }
    }

    /// Asks for a file from byte `start` on, which is answered with the whole file if it is no longer the one with
    /// `validator`.
    pub fn get(&self, url: &str, start: u64, validator: Option<&str>) -> Result<Answer, Problem> {
        let mut request = self.agent.get(url).header(header::ACCEPT_ENCODING, "identity");
        if start > 0 {
            request = request.header(header::RANGE, format!("bytes={start}-"));
            if let Some(validator) = validator {
                request = request.header(header::IF_RANGE, validator);
            }
        }
        // What was asked for over TLS is not answered without it, wherever a redirection leads.
        let request = request.config().https_only(url.starts_with("https://")).build();
        let response = request.call().map_err(|error| self.problem(&error))?;
        answer(response)
    }

    /// Why a body broke off. `ureq` wraps what went wrong.
    pub fn problem_of_body(&self, error: &io::Error) -> Problem {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        let is_timeout = matches!(inner, Some(Error::Timeout(_)));
        Problem::Passing(self.tell(is_timeout, error))
    }

    fn problem(&self, error: &Error) -> Problem {
        let is_timeout = matches!(error, Error::Timeout(_));
        match error {
            // Of its certificate, for instance.
            Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => Problem::Lasting(error.to_string()),
            Error::Io(error) => Problem::Silence(error.to_string()),
            Error::Timeout(_) | Error::ConnectionFailed | Error::HostNotFound => {
                Problem::Silence(self.tell(is_timeout, error))
            }
            Error::Protocol(_) => Problem::Passing(error.to_string()),
            _ => Problem::Lasting(error.to_string()),
        }
    }

    fn tell(&self, is_timeout: bool, error: &dyn std::error::Error) -> String {
        if is_timeout {
            format!("no answer for {} s", self.timeout.as_secs_f32())
        } else {
            error.to_string()
        }
    }
}

fn answer(response: Response<Body>) -> Result<Answer, Problem> {
    let status = response.status();
    let headers = response.headers();
    let range = headers.get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let (start, total) = range.map_or((None, None), content_range);
    let validator = validator(headers);
    let length = response.body().content_length();
    let body = response.into_body().into_reader();
    match status.as_u16() {
        200 => Ok(Answer::Whole(
            Version {
                total: length,
                validator,
            },
            body,
        )),
        206 => match start {
            Some(start) => Ok(Answer::Rest {
                start,
                version: Version { total, validator },
                body,
            }),
            None => Err(Problem::Passing(
                "a partial answer that does not say which part".to_owned(),
            )),
        },
        416 => Ok(Answer::NothingMore(Version { total, validator })),
        408 | 429 | 500.. => Err(Problem::Passing(format!("the server answers {status}"))),
        _ => Err(Problem::Lasting(format!("the server answers {status}"))),
    }
}

/// An entity tag that promises the same bytes, else the date of the last change.
fn validator(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let tag = text(header::ETAG).filter(|tag| !tag.starts_with("W/"));
    tag.or_else(|| text(header::LAST_MODIFIED)).map(str::to_owned)
}

/// Start and total of `bytes 10-19/30`; either may be unknown.
fn content_range(text: &str) -> (Option<u64>, Option<u64>) {
    let Some((part, total)) = text.strip_prefix("bytes ").and_then(|rest| rest.split_once('/')) else {
        return (None, None);
    };
    let start = part.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
    (start, total.trim().parse().ok())
}

/// Reads the next bytes of a body; none at its end.
pub fn read_block(body: &mut BodyReader<'static>, block: &mut [u8]) -> io::Result<usize> {
    loop {
        match body.read(block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_range_may_leave_either_half_open() {
        assert_eq!(content_range("bytes 10-19/30"), (Some(10), Some(30)));
        assert_eq!(content_range("bytes 10-19/*"), (Some(10), None));
        assert_eq!(content_range("bytes */30"), (None, Some(30)));
        assert_eq!(content_range("lines 1-2/3"), (None, None));
        assert_eq!(content_range("bytes 10-19"), (None, None));
    }

    #[test]
    fn a_weak_tag_promises_nothing() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ETAG, "W/\"1\"".parse().unwrap());
        assert_eq!(validator(&headers), None);
        headers.insert(header::LAST_MODIFIED, "Tue, 01 Apr 2014 10:00:00 GMT".parse().unwrap());
        assert_eq!(validator(&headers).unwrap(), "Tue, 01 Apr 2014 10:00:00 GMT");
        headers.insert(header::ETAG, "\"1\"".parse().unwrap());
        assert_eq!(validator(&headers).unwrap(), "\"1\"");
    }
}
