//! A sentence under construction: words with single spaces, and commas that never double.

/// Words so far; a comma waits until another word follows it, because a full stop swallows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    words: String,
    comma_before: bool,
    comma_after: bool,
}

impl Text {
    pub fn of(word: &str) -> Self {
        let mut text = Self::default();
        text.push(word);
        text
    }

    /// Adds a word or a fixed phrase; an empty one changes nothing.
    pub fn push(&mut self, word: &str) -> &mut Self {
        if word.is_empty() {
            return self;
        }
        if !self.words.is_empty() {
            self.words.push_str(if self.comma_after { ", " } else { " " });
        }
        self.comma_after = false;
        self.words.push_str(word);
        self
    }

    pub fn comma(&mut self) -> &mut Self {
        if self.words.is_empty() {
            self.comma_before = true;
        } else {
            self.comma_after = true;
        }
        self
    }

    pub fn append(&mut self, other: &Text) -> &mut Self {
        if other.comma_before {
            self.comma();
        }
        self.push(&other.words);
        if other.comma_after {
            self.comma();
        }
        self
    }

    /// The words with an ending on the last: "the old man's".
    pub fn with_ending(&self, ending: &str) -> String {
        format!("{}{ending}", self.words)
    }

    /// The sentence with a capital and its closing mark.
    pub fn finish(&self, mark: char) -> String {
        let mut letters = self.words.chars();
        let capital = letters.next().into_iter().flat_map(char::to_uppercase);
        capital.chain(letters).chain([mark]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_meet_once_and_a_full_stop_swallows_the_last() {
        let mut inner = Text::default();
        inner.comma().push("der").push("schläft").comma();
        let mut text = Text::of("der");
        text.push("Hund").append(&inner).comma().push("träumt").append(&inner);
        assert_eq!(text.finish('.'), "Der Hund, der schläft, träumt, der schläft.");
    }
}
