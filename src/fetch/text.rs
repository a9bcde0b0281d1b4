//! Sentences out of the formats that they are published in.

/// Tags that stand for a line about a talk. The translated text has none of them.
const ABOUT_TALKS: [&str; 8] = [
    "url",
    "keywords",
    "speaker",
    "talkid",
    "reviewer",
    "translator",
    "doc",
    "/doc",
];

/// Tags around text of the talk.
const AROUND_TEXT: [&str; 4] = ["<title>", "</title>", "<description>", "</description>"];

/// The text of a line that is a segment, none for any other line.
///
/// # Errors
/// If a segment begins that does not end in the line.
pub fn segment(line: &str) -> Result<Option<String>, Unended> {
    let Some(rest) = line.trim().strip_prefix("<seg") else {
        return Ok(None);
    };
    let (_, rest) = rest.split_once('>').ok_or(Unended)?;
    let (text, _) = rest.rsplit_once("</seg>").ok_or(Unended)?;
    Ok(Some(text.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// A segment that goes on in the next line, which no published file has.
#[derive(Debug, PartialEq, Eq)]
pub struct Unended;

/// The text of a line of talks, none for a line about them.
pub fn talk(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(tag) = line.strip_prefix('<') {
        let name = tag.split(['>', ' ']).next().unwrap_or_default();
        if ABOUT_TALKS.contains(&name) {
            return None;
        }
    }
    let text = AROUND_TEXT
        .iter()
        .fold(line.to_owned(), |text, tag| text.replace(tag, ""));
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_what_stands_between_its_tags_with_single_spaces() {
        let text = |line| segment(line).unwrap();
        assert_eq!(text("<seg id=\"1\">One.</seg>").unwrap(), "One.");
        assert_eq!(text("  <seg id=\"12\"> One\u{a0}\t two. </seg>\r").unwrap(), "One two.");
        assert_eq!(
            text("<seg id=\"1\">a > b &amp; </seg> c</seg>").unwrap(),
            "a > b &amp; </seg> c"
        );
        assert_eq!(text("<seg id=\"1\"></seg>").unwrap(), "");
        for line in ["", "<doc docid=\"1\">", "</doc>", "text"] {
            assert_eq!(text(line), None, "{line}");
        }
        assert_eq!(segment("<seg id=\"1\">One"), Err(Unended));
        assert_eq!(segment("<seg id"), Err(Unended));
    }

    #[test]
    fn lines_about_talks_go_and_their_titles_stay() {
        assert_eq!(
            talk(" David Gallo: This is Bill Lange.\n").unwrap(),
            "David Gallo: This is Bill Lange."
        );
        assert_eq!(talk("<title>Unter Wasser</title>").unwrap(), "Unter Wasser");
        assert_eq!(
            talk("<description>TED Talk: Fische</description>").unwrap(),
            "TED Talk: Fische"
        );
        assert_eq!(talk("").unwrap(), "");
        assert_eq!(talk("<3 is a heart").unwrap(), "<3 is a heart");
        for line in [
            "<url>http://www.ted.com/talks/1</url>",
            "<keywords>a, b</keywords>",
            "<speaker>David Gallo</speaker>",
            "<talkid>343</talkid>",
            "<translator href=\"x\">Y</translator>",
            "<doc docid=\"343\" genre=\"lectures\">",
            "</doc>",
        ] {
            assert_eq!(talk(line), None, "{line}");
        }
    }
}
