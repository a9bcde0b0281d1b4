//! The name of a public corpus comes in. Its archives are downloaded, verified and unpacked, and plain text files in the
//! data folder go out. It refuses to know what a corpus is used for, and it prints nothing.

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
