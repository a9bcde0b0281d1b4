//! A corpus comes in, named by a spec: six text files, or the embedded grammar. Text, a shared vocabulary, packed
//! batches, and a count of everything odd that was found go out. It refuses to know models, training and scores.

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
