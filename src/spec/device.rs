//! The device to train a suite on. It is not part of an experiment: it changes how long a run takes, not what is run.

use std::fmt;
use std::str::FromStr;

/// The device that a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceWish {
    #[default]
    Cpu,
    /// A GPU; a sweep uses every GPU that CUDA sees.
    Cuda,
    /// One GPU, by its number in CUDA.
    CudaAt(usize),
    /// GPUs if the program can use any, otherwise the CPU.
    Auto,
}

impl DeviceWish {
    pub(super) const ALLOWED: &str = "\"cpu\", \"cuda\", \"cuda:N\", \"auto\"";
    /// Names for a suggestion.
    pub(super) const NAMES: [&str; 3] = ["cuda", "cpu", "auto"];
}

impl FromStr for DeviceWish {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            "auto" => Ok(Self::Auto),
            _ => {
                let ordinal = text.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok());
                ordinal
                    .map(Self::CudaAt)
                    .ok_or_else(|| format!("`{text}` is not a device; allowed are {}", Self::ALLOWED))
            }
        }
    }
}

impl fmt::Display for DeviceWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda => f.write_str("cuda"),
            Self::CudaAt(ordinal) => write!(f, "cuda:{ordinal}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_as_they_are_shown() {
        for wish in [
            DeviceWish::Cpu,
            DeviceWish::Cuda,
            DeviceWish::CudaAt(3),
            DeviceWish::Auto,
        ] {
            assert_eq!(wish.to_string().parse(), Ok(wish));
        }
        for text in ["gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", ""] {
            assert!(text.parse::<DeviceWish>().is_err(), "{text}");
        }
    }
}
