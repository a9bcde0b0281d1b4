//! Public corpora. The name of a corpus comes in; verified plain text files in the data folder go out, and events on the
//! way. This room refuses to know what a corpus is used for, and it prints nothing.

mod archives;
mod catalog;
mod corpus;
mod digest;
mod download;
mod entry;
mod error;
mod http;
mod manifest;
mod part;
mod patience;
mod request;
mod source;
mod text;
mod text_file;
mod trust;
mod unpack;

pub use archives::DOWNLOADS;
pub use catalog::Catalog;
pub use corpus::fetch;
pub use digest::Digest;
pub use entry::{Archive, Corpus, Format, Part, Selection, TextEntry};
pub use error::{Difference, FetchError, Measured};
pub use manifest::{FileRecord, MANIFEST};
pub use patience::Patience;
pub use request::{Event, Report, Request};
pub use source::{Mirror, Source};
