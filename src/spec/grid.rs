//! Grids, which expand to rows: one for each combination of the listed values.

use std::ops::Range;

use toml::de::DeValue;

use super::fault::{FaultKind, PlaceholderProblem};
use super::keys::Key;
use super::read::{Leaves, Located, Reader};
use super::resolve::Layer;
use super::value::Value;

/// Far more rows than anyone trains, and few enough to expand.
const MOST_ROWS: usize = 1000;

/// Values that a grid gives to one key.
type Axis = (&'static Key, Vec<Located<Value>>);

/// A grid as written, with its values read.
pub(super) struct Grid {
    /// The id, with `{key}` in place of each value.
    pub template: Located<String>,
    pub axes: Vec<Axis>,
    /// Names and values that could not be used.
    pub rest: Layer,
}

impl Grid {
    /// Reads the lists of a grid's `set`; one value may stand without a list.
    pub fn read<'s>(reader: &mut Reader<'s>, template: Located<String>, leaves: Leaves<'_, 's>) -> Self {
        let Leaves { found, layer: mut rest } = leaves;
        let mut axes = Vec::new();
        for (key, written) in found {
            let listed = match written.get_ref() {
                DeValue::Array(_) => reader.array(key.path, written),
                _ => std::slice::from_ref(written),
            };
            let read = |one| reader.value(key.path, &key.kind, one);
            let values: Vec<_> = listed.iter().filter_map(read).collect();
            if values.is_empty() || values.len() < listed.len() {
                rest.suspects.insert(key.path);
            }
            if !values.is_empty() {
                axes.push((key, values));
            }
        }
        Self { template, axes, rest }
    }

    /// Returns the rows: ids and layers. The first key varies slowest.
    pub fn expand(&self, reader: &mut Reader<'_>) -> Vec<(String, Layer)> {
        let count = self
            .axes
            .iter()
            .fold(1_usize, |count, (_, values)| count.saturating_mul(values.len()));
        let span = self.template.place.span.clone();
        if count > MOST_ROWS {
            reader.fault(
                span,
                FaultKind::TooManyRows {
                    found: count,
                    limit: MOST_ROWS,
                },
            );
            return Vec::new();
        }
        if !self.rest.suspects.is_empty() || !self.template_fits(reader, &span) {
            return Vec::new();
        }
        (0..count).map(|index| self.row(index)).collect()
    }

    /// Returns row `index` of the product. The index counts like a number whose digits are the axes.
    fn row(&self, mut index: usize) -> (String, Layer) {
        let mut id = self.template.value.clone();
        let mut layer = self.rest.clone();
        for (key, values) in self.axes.iter().rev() {
            let Located { value, place } = &values[index % values.len()];
            index /= values.len();
            id = id.replace(&placeholder(key.path), &value.bare());
            layer.settings.insert(key.path, (value.clone(), place.clone()));
        }
        (id, layer)
    }

    /// Checks that each placeholder of the id is a key, and each key with several values a placeholder.
    fn template_fits(&self, reader: &mut Reader<'_>, span: &Range<usize>) -> bool {
        let template = &self.template.value;
        let mut problems = Vec::new();
        match placeholders(template) {
            Some(names) => {
                let is_set = |name: &str| self.axes.iter().any(|(key, _)| key.path == name);
                let unset = names.iter().filter(|name| !is_set(name));
                problems.extend(unset.map(|name| PlaceholderProblem::NotSet { key: name.to_string() }));
                let shown = |path: &str| names.contains(&path);
                let hidden = self
                    .axes
                    .iter()
                    .filter(|(key, values)| values.len() > 1 && !shown(key.path));
                problems.extend(hidden.map(|(key, _)| PlaceholderProblem::NotInId {
                    key: key.path.to_owned(),
                }));
            }
            None => problems.push(PlaceholderProblem::Unbalanced { id: template.clone() }),
        }
        let fits = problems.is_empty();
        for problem in problems {
            reader.fault(span.clone(), FaultKind::Placeholder { problem });
        }
        fits
    }
}

fn placeholder(path: &str) -> String {
    format!("{{{path}}}")
}

/// Returns the names between braces, or `None` when a brace has no partner.
fn placeholders(template: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        if before.contains('}') || name.contains('{') {
            return None;
        }
        names.push(name);
        rest = after;
    }
    (!rest.contains('}')).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_in_order() {
        assert_eq!(placeholders("lr{a.b}-h{c}"), Some(vec!["a.b", "c"]));
        assert_eq!(placeholders("plain"), Some(vec![]));
        for unbalanced in ["{a", "a}", "{a{b}}", "}{", "{a}}"] {
            assert_eq!(placeholders(unbalanced), None, "{unbalanced}");
        }
    }
}
