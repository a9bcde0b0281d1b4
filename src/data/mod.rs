//! Corpora. A spec that names six text files or the built-in grammar comes in; text, a shared vocabulary, packed batches
//! and a count of everything odd go out. This room refuses to know what a model does with a batch, and how it is scored.

mod batches;
mod cache;
mod dataset;
mod error;
mod files;
mod findings;
mod lines;
mod prepared;
mod report;
mod splits;
mod text;
mod updates;
mod vocabulary;

pub use batches::{EncodedPairs, evaluation_batches};
pub use dataset::{Dataset, HeldOut, load, sample};
pub use error::DataError;
pub use files::{DEFAULT_FOLDER, check_files};
pub use lines::{Repairs, read_utf8, utf8};
pub use report::{CorpusReport, Origin, SideReport, SplitReport};
pub use splits::Splits;
pub use text::{PairSource, Reading, sources};
pub use updates::{UpdateSize, Updates};
pub use vocabulary::{Encoder, Vocabulary, WordCounts};
