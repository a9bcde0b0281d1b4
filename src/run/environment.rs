//! Code, machine and command, on which a result depends besides its spec.

use std::fs;
use std::process::Command;

/// Asked for once, at the start of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The command line, as typed.
    pub command: String,
    /// Commit of the checkout that the process runs in, if there is one.
    pub git_commit: Option<String>,
    /// Hash of the uncommitted changes, if there are any.
    pub git_diff_hash: Option<String>,
    pub cpu: String,
}

impl Environment {
    #[must_use]
    pub fn here() -> Self {
        let diff = git(&["diff", "HEAD"]).filter(|diff| !diff.is_empty());
        Self {
            command: command_line(std::env::args()),
            git_commit: git(&["rev-parse", "HEAD"]),
            git_diff_hash: diff.map(|diff| blake3::hash(diff.as_bytes()).to_hex()[..16].to_owned()),
            cpu: cpu_model(),
        }
    }
}

/// Output of git without the last line break; nothing if there is no git or no checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Command line as a person would type it: the program by its name, without its folder.
fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = arguments.map(|argument| quoted(&argument)).collect();
    if let Some(program) = words.first_mut() {
        *program = program.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    }
    words.join(" ")
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// Name of the CPU, as the system gives it.
#[must_use]
pub fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |model| model.trim().to_owned())
}

/// The memory of this machine, and how much of it is available, where the system tells.
#[must_use]
pub fn memory_bytes() -> Option<[u64; 2]> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    Some([bytes_of(&text, "MemTotal:")?, bytes_of(&text, "MemAvailable:")?])
}

/// The most memory that this process has held at once, where the system tells.
#[must_use]
pub fn peak_memory_bytes() -> Option<u64> {
    bytes_of(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// A line `name 123 kB` of what the system tells.
fn bytes_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell_again() {
        let words = ["/opt/bin/ablate", "run", "my suite"].map(str::to_owned);
        assert_eq!(command_line(words.into_iter()), "ablate run 'my suite'");
        assert_eq!(quoted("table3-quick"), "table3-quick");
        assert_eq!(quoted("my results"), "'my results'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_peak_of_memory_is_at_least_what_this_test_holds() {
        let held = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(peak_memory_bytes() >= Some(held.len() as u64));
    }
}
