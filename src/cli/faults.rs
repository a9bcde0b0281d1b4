//! Faults on the terminal: the line of the file, the value underlined, and what to do about it.

use std::io::IsTerminal;

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Renderer, Snippet};

use crate::spec::{Fault, Faults, Place};

/// Whether the text goes to a terminal that shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Plain,
    Ansi,
}

impl Colour {
    /// Chooses colours for a terminal, unless `NO_COLOR` is set.
    pub fn of_stderr() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted && std::io::stderr().is_terminal() {
            Self::Ansi
        } else {
            Self::Plain
        }
    }
}

/// Quotes every fault in its source, and ends with the number of faults.
#[must_use]
pub fn render(faults: &Faults, colour: Colour) -> String {
    let renderer = match colour {
        Colour::Plain => Renderer::plain(),
        Colour::Ansi => Renderer::styled(),
    };
    let mut text = String::new();
    for fault in &faults.faults {
        text += &renderer.render(&[group(fault, faults)]);
        text += "\n\n";
    }
    let noun = if faults.faults.len() == 1 { "fault" } else { "faults" };
    text + &format!("{} {noun}; nothing was run\n", faults.faults.len())
}

fn group<'a>(fault: &Fault, faults: &'a Faults) -> Group<'a> {
    let title = Level::ERROR.primary_title(fault.message());
    let mut marks = vec![(&fault.place, AnnotationKind::Primary.span(fault.place.span.clone()))];
    marks.extend(fault.related.iter().map(|related| {
        let mark = AnnotationKind::Context.span(related.place.span.clone());
        (&related.place, mark.label(related.what.to_string()))
    }));
    let help = fault.kind.help().map(|help| Level::HELP.message(help));
    Group::with_title(title)
        .elements(snippets(marks, faults))
        .elements(help)
}

/// Returns one snippet for each file, in the order of the marks. A file that could not be read has none.
fn snippets<'a>(marks: Vec<(&Place, Annotation<'a>)>, faults: &'a Faults) -> Vec<Element<'a>> {
    let mut files: Vec<(&str, Vec<Annotation<'a>>)> = Vec::new();
    for (place, mark) in marks {
        match files.iter_mut().find(|(file, _)| *file == place.file) {
            Some((_, marks)) => marks.push(mark),
            None => files.push((&place.file, vec![mark])),
        }
    }
    let quoted = files.into_iter().filter_map(|(file, marks)| {
        let (path, text) = faults.sources.get_key_value(file)?;
        Some(Snippet::source(text).path(path).annotations(marks).into())
    });
    quoted.collect()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::*;
    use crate::spec::load_suite;

    const BASE: &str = "[model]\nlayers = 2\nd_model = 64\nd_ff = 256\nheads = 4\n
[regularization]\ndropout = 0.1\nlabel_smoothing = 0.1\n
[data]\ncorpus = 'multi30k'\nvocab_size = 800\n
[training]\nsteps = 100\nbatch_tokens = 4096\nwarmup_steps = 50\n";

    fn rendered(suite: &str) -> String {
        let read = |path: &Path| match path.to_str() {
            Some("base.toml") => Ok(BASE.to_owned()),
            Some("suite.toml") => Ok(format!("title = 't'\nbase = 'base.toml'\n{suite}")),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        render(&load_suite(Path::new("suite.toml"), &read).unwrap_err(), Colour::Plain)
    }

    #[test]
    fn an_inherited_value_is_shown_in_the_file_that_set_it() {
        let text = rendered("[[row]]\nid = 'odd'\nset = { model.heads = 3 }\n");
        let expected = "\
error: row `odd`: `model.heads = 3` does not divide `model.d_model = 64`
 --> suite.toml:5:23
  |
5 | set = { model.heads = 3 }
  |                       ^
  |
 ::: base.toml:3:11
  |
3 | d_model = 64
  |           -- `model.d_model = 64`
  |
  = help: set `model.d_k` and `model.d_v`, or another number of heads

1 fault; nothing was run
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_missing_field_points_at_the_start_of_the_file() {
        let text = rendered("");
        assert!(
            text.starts_with("error: `row` is missing\n --> suite.toml:1:1\n"),
            "{text}"
        );
    }

    #[test]
    fn a_missing_file_needs_no_source() {
        let missing = |_: &Path| Err(io::ErrorKind::NotFound.into());
        let faults = load_suite(Path::new("gone.toml"), &missing).unwrap_err();
        assert_eq!(
            render(&faults, Colour::Plain),
            "error: `gone.toml` does not exist\n\n1 fault; nothing was run\n"
        );
    }
}
