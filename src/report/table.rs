//! Columns of text, aligned; the same table in every format.

/// Edge of a column that its cells touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Where a section or a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Everywhere,
    /// In Markdown and HTML.
    Pages,
    Terminal,
}

/// A column: a title and one cell per row.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub title: String,
    pub align: Align,
    pub cells: Vec<String>,
    pub(super) shown: Shown,
    /// Rank among the columns that a narrow terminal leaves out, lowest first; `None` if it must be shown.
    pub(super) gives_way: Option<u8>,
}

impl Column {
    pub fn new(title: impl Into<String>, align: Align, cells: Vec<String>) -> Self {
        Self {
            title: title.into(),
            align,
            cells,
            shown: Shown::Everywhere,
            gives_way: None,
        }
    }

    pub(super) fn shown(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    pub(super) fn giving_way(self, rank: u8) -> Self {
        Self {
            gives_way: Some(rank),
            ..self
        }
    }

    /// Returns the column, or `None` if all of its cells are empty.
    #[must_use]
    pub fn unless_empty(self) -> Option<Self> {
        self.cells.iter().any(|cell| !cell.is_empty()).then_some(self)
    }

    /// Returns the width in characters, each of which fills one cell of a terminal.
    #[must_use]
    pub fn width(&self) -> usize {
        self.cells
            .iter()
            .chain([&self.title])
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    }

    fn padded(&self, cell: &str) -> String {
        let width = self.width();
        match self.align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        }
    }
}

/// Returns a GitHub table whose source is aligned too.
pub(super) fn to_markdown(columns: &[Column]) -> String {
    let columns: Vec<_> = columns.iter().map(escaped).collect();
    let rule = columns.iter().map(|column| match column.align {
        Align::Left => "-".repeat(column.width().max(3)),
        Align::Right => "-".repeat(column.width().max(3) - 1) + ":",
    });
    let mut text = line(columns.iter().map(|column| column.padded(&column.title)));
    text += &line(rule);
    for i in 0..height(&columns) {
        text += &line(columns.iter().map(|column| column.padded(&column.cells[i])));
    }
    text
}

/// Returns plain text: two spaces between columns, a rule under the titles, no spaces at the end of a line.
#[must_use]
pub fn to_plain(columns: &[Column]) -> String {
    let join = |cells: Vec<String>| cells.join("  ").trim_end().to_owned() + "\n";
    let mut text = join(columns.iter().map(|column| column.padded(&column.title)).collect());
    text += &join(columns.iter().map(|column| "-".repeat(column.width())).collect());
    for i in 0..height(columns) {
        text += &join(columns.iter().map(|column| column.padded(&column.cells[i])).collect());
    }
    text
}

/// Returns the width of [`to_plain`].
pub(super) fn plain_width(columns: &[Column]) -> usize {
    columns.iter().map(Column::width).sum::<usize>() + 2 * columns.len().saturating_sub(1)
}

fn height(columns: &[Column]) -> usize {
    columns.first().map_or(0, |column| column.cells.len())
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// Escapes bars, which would end a cell, and widens the title to three characters, the shortest rule below it.
fn escaped(column: &Column) -> Column {
    let escape = |text: &String| text.replace('|', "\\|");
    let title = escape(&column.title);
    let title = if column.align == Align::Left {
        format!("{title:<3}")
    } else {
        format!("{title:>3}")
    };
    Column {
        title,
        cells: column.cells.iter().map(escape).collect(),
        ..*column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> [Column; 2] {
        [
            Column::new("row", Align::Left, vec!["base".into(), "a|b".into()]),
            Column::new("h", Align::Right, vec!["8".into(), "±16".into()]),
        ]
    }

    #[test]
    fn markdown_is_aligned_and_a_bar_cannot_end_a_cell() {
        let expected = "| row  |   h |\n| ---- | --: |\n| base |   8 |\n| a\\|b | ±16 |\n";
        assert_eq!(to_markdown(&columns()), expected);
    }

    #[test]
    fn plain_text_is_as_wide_as_it_says() {
        let text = to_plain(&columns());
        assert_eq!(text, "row     h\n----  ---\nbase    8\na|b   ±16\n");
        assert_eq!(
            text.lines().map(|line| line.chars().count()).max(),
            Some(plain_width(&columns()))
        );
    }
}
