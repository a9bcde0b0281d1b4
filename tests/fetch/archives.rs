//! Archives, good and evil.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// A member of a tar archive, under a name that no honest tool would write.
pub struct Member<'a> {
    pub name: &'a str,
    pub kind: EntryType,
    pub link: &'a str,
    pub content: &'a [u8],
}

impl<'a> Member<'a> {
    pub fn file(name: &'a str, content: &'a [u8]) -> Self {
        Self {
            name,
            kind: EntryType::Regular,
            link: "",
            content,
        }
    }

    pub fn other(kind: EntryType, name: &'a str, link: &'a str) -> Self {
        Self {
            name,
            kind,
            link,
            content: b"",
        }
    }
}

pub fn tar(members: &[Member]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for member in members {
        let mut header = Header::new_gnu();
        let fields = header.as_old_mut();
        fields.name[..member.name.len()].copy_from_slice(member.name.as_bytes());
        fields.linkname[..member.link.len()].copy_from_slice(member.link.as_bytes());
        header.set_entry_type(member.kind);
        header.set_mode(0o644);
        header.set_size(member.content.len() as u64);
        header.set_cksum();
        builder.append(&header, member.content).expect("memory");
    }
    builder.into_inner().expect("memory")
}

pub fn tgz(members: &[Member]) -> Vec<u8> {
    gzip(&tar(members))
}
