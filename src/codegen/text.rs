//! One constant, one arm and one module for each shape.

use std::fmt::Write as _;

use crate::plan::ShapeKey;
use crate::spec::Suite;

/// A file to be written.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

/// A shape and the rows that use it.
struct Use {
    shape: ShapeKey,
    /// `suite row, row; suite row`.
    rows: Vec<String>,
}

/// The files that `generated.rs` includes. The first, of the same name, holds `SHAPES` and `build` with an arm for each
/// of them; every other one builds one shape, and is the same text whatever other shapes there are: a compiler that
/// remembers what it compiled has nothing to do for it.
#[must_use]
pub fn generate(suites: &[Suite]) -> Vec<SourceFile> {
    let uses = uses(suites);
    let index = SourceFile {
        name: "generated.rs".to_owned(),
        text: index(&uses),
    };
    std::iter::once(index)
        .chain(uses.iter().map(|one| builder(&one.shape)))
        .collect()
}

fn index(uses: &[Use]) -> String {
    let mut text = String::from("// Written by the build script from the suites in the experiments folder.\n\n");
    text += "/// Shapes this binary was built with, in the order of first use.\n";
    text += "pub const SHAPES: &[ShapeKey] = &[\n";
    for Use { shape, .. } in uses {
        writeln!(text, "    {},", literal(shape)).expect("a string takes all");
    }
    text += "];\n\n";
    text += "/// A new model of the shape, or `None` when this binary was not built with it.\n";
    text += "pub fn build<Dev: Ops>(\n";
    text += "    key: &ShapeKey,\n    device: &Dev,\n    architecture: Architecture,\n    seed: u64,\n";
    text += ") -> Option<Box<dyn Seq2Seq>> {\n";
    text += "    match SHAPES.iter().position(|shape| shape == key)? {\n";
    for (number, Use { shape, rows }) in uses.iter().enumerate() {
        writeln!(text, "        // {}", rows.join("; ")).expect("a string takes all");
        let module = module(shape);
        writeln!(
            text,
            "        {number} => Some({module}::build(device, architecture, seed)),"
        )
        .expect("a string takes all");
    }
    text += "        _ => None,\n    }\n}\n";
    for Use { shape, .. } in uses {
        let module = module(shape);
        write!(
            text,
            "\nmod {module} {{\n    include!(concat!(env!(\"OUT_DIR\"), \"/{module}.rs\"));\n}}\n"
        )
        .expect("a string takes all");
    }
    text
}

fn builder(shape: &ShapeKey) -> SourceFile {
    let sizes = sizes(shape);
    SourceFile {
        name: format!("{}.rs", module(shape)),
        text: format!(
            "use crate::model::{{Architecture, Seq2Seq, Trainable, Transformer}};\n\
             use crate::ops::{{Of, Ops}};\n\n\
             pub fn build<Dev: Ops>(device: &Dev, architecture: Architecture, seed: u64) -> Box<dyn Seq2Seq> {{\n    \
             Box::new(Trainable::new(Transformer::<Dev, {sizes}>::new(device, architecture, seed)))\n}}\n"
        ),
    }
}

/// A name that says all sizes: it must not change when other shapes come or go.
fn module(shape: &ShapeKey) -> String {
    let ShapeKey {
        d_model,
        d_ff,
        keys,
        values,
    } = shape;
    format!("model_{d_model}_ff_{d_ff}_keys_{keys}_values_{values}")
}

fn uses(suites: &[Suite]) -> Vec<Use> {
    let mut uses: Vec<Use> = Vec::new();
    for suite in suites {
        for row in &suite.rows {
            let shape = ShapeKey::of(&row.experiment);
            let name = format!("{} {}", suite.name, row.id);
            match uses.iter_mut().find(|other| other.shape == shape) {
                Some(known) => known.rows.push(name),
                None => uses.push(Use {
                    shape,
                    rows: vec![name],
                }),
            }
        }
    }
    uses
}

fn literal(shape: &ShapeKey) -> String {
    let ShapeKey {
        d_model,
        d_ff,
        keys,
        values,
    } = shape;
    format!("ShapeKey {{ d_model: {d_model}, d_ff: {d_ff}, keys: {keys}, values: {values} }}")
}

/// `Of<D, F, H*K, H*VD>`.
fn sizes(shape: &ShapeKey) -> String {
    let ShapeKey {
        d_model,
        d_ff,
        keys,
        values,
    } = shape;
    format!("Of<{d_model}, {d_ff}, {keys}, {values}>")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::spec::load_suite;

    const BASE: &str = "
        model = { layers = 2, d_model = 64, d_ff = 256, heads = 4 }
        regularization = { dropout = 0.1, label_smoothing = 0.1 }
        data = { corpus = 'multi30k', vocab_size = 800, max_length = 64 }
        training = { steps = 100, batch_tokens = 4096, warmup_steps = 50 }";
    const ROWS: &str = "
        title = 't'
        base = 'base.toml'
        row = [
            { id = 'base' },
            { id = 'B1', set = { model.d_k = 4, model.heads = 8 } },
            { id = 'D1', set = { regularization.dropout = 0 } },
            { id = 'E', set = { model.positional = 'learned', model.max_positions = 128 } },
        ]";

    fn suite(name: &str) -> Suite {
        let text = |path: &Path| Ok(if path.ends_with("base.toml") { BASE } else { ROWS }.to_owned());
        load_suite(Path::new(name), &text).unwrap()
    }

    /// The models that are built, in the order of their files.
    fn models(files: &[SourceFile]) -> Vec<&str> {
        let models = files.iter().skip(1).filter_map(|file| {
            let (_, sizes) = file.text.split_once("Transformer::<Dev, ")?;
            Some(sizes.split_once(">::new(device")?.0)
        });
        models.collect()
    }

    #[test]
    fn each_shape_has_one_file_with_its_sizes_in_order() {
        let files = generate(&[suite("quick.toml")]);
        // Other positions are the same model with other values.
        assert_eq!(models(&files), ["Of<64, 256, 64, 64>", "Of<64, 256, 32, 64>"]);
        assert_eq!(files[0].name, "generated.rs");
        assert_eq!(files[2].name, "model_64_ff_256_keys_32_values_64.rs");
    }

    #[test]
    fn a_shape_is_shared_across_suites_and_names_its_rows() {
        let files = generate(&[suite("quick.toml"), suite("again.toml")]);
        assert_eq!(models(&files).len(), 2);
        let index = &files[0].text;
        assert!(
            index.contains("// quick base; quick D1; quick E; again base; again D1; again E\n"),
            "{index}"
        );
    }

    #[test]
    fn a_file_does_not_depend_on_the_other_shapes() {
        let all = generate(&[suite("quick.toml")]);
        let mut one = suite("quick.toml");
        one.rows.retain(|row| row.id == "B1");
        assert_eq!(generate(&[one])[1], all[2]);
    }

    #[test]
    fn arms_and_constants_stand_in_the_same_order() {
        let files = generate(&[suite("quick.toml")]);
        let lines = |wanted: &str| -> Vec<&str> {
            let lines = files[0].text.lines().map(str::trim);
            lines.filter(|line| line.contains(wanted)).collect()
        };
        let constants: Vec<&str> = lines("ShapeKey {");
        assert_eq!(constants.len(), 2);
        assert!(constants[1].contains("d_model: 64, d_ff: 256, keys: 32, values: 64 }"));
        let arms = lines("=> Some(");
        assert!(arms[1].starts_with("1 => Some(model_64_ff_256_keys_32_values_64::build("));
    }
}
