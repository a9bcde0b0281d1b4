//! One constant, one arm and one module for each shape.

use std::fmt::Write as _;

use crate::plan::ShapeKey;
use crate::spec::{Positional, Suite};

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
    text += "#[allow(clippy::too_many_lines, reason = \"one arm for each shape\")]\n";
    text += "pub fn build<Dev: Ops>(\n";
    text +=
        "    key: &ShapeKey,\n    device: &Dev,\n    norm: Norm,\n    seed: u64,\n) -> Option<Box<dyn Seq2Seq>> {\n";
    text += "    match SHAPES.iter().position(|shape| shape == key)? {\n";
    for (number, Use { shape, rows }) in uses.iter().enumerate() {
        writeln!(text, "        // {}", rows.join("; ")).expect("a string takes all");
        let module = module(shape);
        writeln!(text, "        {number} => Some({module}::build(device, norm, seed)),").expect("a string takes all");
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
    let positional = match shape.positional {
        Positional::Sinusoidal => "Sinusoidal",
        Positional::Learned { .. } => "Learned",
    };
    let model = model_type(shape);
    SourceFile {
        name: format!("{}.rs", module(shape)),
        text: format!(
            "use crate::model::{{{positional}, Seq2Seq, Trainable, Transformer}};\n\
             use crate::ops::Ops;\n\
             use crate::spec::Norm;\n\n\
             pub fn build<Dev: Ops>(device: &Dev, norm: Norm, seed: u64) -> Box<dyn Seq2Seq> {{\n    \
             Box::new(Trainable::new({model}::new(device, norm, seed)))\n}}\n"
        ),
    }
}

/// A name that says all sizes: it must not change when other shapes come or go.
fn module(shape: &ShapeKey) -> String {
    let ShapeKey {
        layers,
        d_model,
        d_ff,
        heads,
        d_k,
        d_v,
        vocab,
        positional,
    } = shape;
    let positional = match positional {
        Positional::Sinusoidal => "sinusoidal".to_owned(),
        Positional::Learned { max_positions } => format!("learned_{max_positions}"),
    };
    format!("layers_{layers}_model_{d_model}_ff_{d_ff}_heads_{heads}_{d_k}_{d_v}_vocab_{vocab}_{positional}")
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
        layers,
        d_model,
        d_ff,
        heads,
        d_k,
        d_v,
        vocab,
        positional,
    } = shape;
    let positional = match positional {
        Positional::Sinusoidal => "Positional::Sinusoidal".to_owned(),
        Positional::Learned { max_positions } => format!("Positional::Learned {{ max_positions: {max_positions} }}"),
    };
    format!(
        "ShapeKey {{ layers: {layers}, d_model: {d_model}, d_ff: {d_ff}, heads: {heads}, d_k: {d_k}, d_v: {d_v}, \
         vocab: {vocab}, positional: {positional} }}"
    )
}

/// `Transformer::<Dev, N, D, F, H, K, VD, HK, HV, V, Positional>`: the sizes of the key, and the two products of sizes
/// that the type system cannot form by itself.
fn model_type(shape: &ShapeKey) -> String {
    let ShapeKey {
        layers,
        d_model,
        d_ff,
        heads,
        d_k,
        d_v,
        vocab,
        positional,
    } = shape;
    let (keys, values) = (heads * d_k, heads * d_v);
    let positional = match positional {
        Positional::Sinusoidal => "Sinusoidal".to_owned(),
        Positional::Learned { max_positions } => format!("Learned<{max_positions}>"),
    };
    format!(
        "Transformer::<Dev, {layers}, {d_model}, {d_ff}, {heads}, {d_k}, {d_v}, {keys}, {values}, {vocab}, {positional}>"
    )
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
            let (_, model) = file.text.split_once("Trainable::new(")?;
            Some(model.split_once("::new(device")?.0)
        });
        models.collect()
    }

    #[test]
    fn each_shape_has_one_file_with_its_sizes_in_order() {
        let files = generate(&[suite("quick.toml")]);
        assert_eq!(
            models(&files),
            [
                "Transformer::<Dev, 2, 64, 256, 4, 16, 16, 64, 64, 800, Sinusoidal>",
                "Transformer::<Dev, 2, 64, 256, 8, 4, 8, 32, 64, 800, Sinusoidal>",
                "Transformer::<Dev, 2, 64, 256, 4, 16, 16, 64, 64, 800, Learned<128>>",
            ]
        );
        assert_eq!(files[0].name, "generated.rs");
        assert_eq!(
            files[2].name,
            "layers_2_model_64_ff_256_heads_8_4_8_vocab_800_sinusoidal.rs"
        );
    }

    #[test]
    fn a_shape_is_shared_across_suites_and_names_its_rows() {
        let files = generate(&[suite("quick.toml"), suite("again.toml")]);
        assert_eq!(models(&files).len(), 3);
        let index = &files[0].text;
        assert!(
            index.contains("// quick base; quick D1; again base; again D1\n"),
            "{index}"
        );
    }

    #[test]
    fn a_file_does_not_depend_on_the_other_shapes() {
        let all = generate(&[suite("quick.toml")]);
        let mut one = suite("quick.toml");
        one.rows.retain(|row| row.id == "E");
        assert_eq!(generate(&[one])[1], all[3]);
    }

    #[test]
    fn arms_and_constants_stand_in_the_same_order() {
        let files = generate(&[suite("quick.toml")]);
        let lines = |wanted: &str| -> Vec<&str> {
            let lines = files[0].text.lines().map(str::trim);
            lines.filter(|line| line.contains(wanted)).collect()
        };
        let constants: Vec<&str> = lines("ShapeKey {");
        assert_eq!(constants.len(), 3);
        assert!(constants[1].contains("heads: 8, d_k: 4, d_v: 8, vocab: 800, positional: Positional::Sinusoidal }"));
        assert!(constants[2].contains("Positional::Learned { max_positions: 128 }"));
        let arms = lines("=> Some(");
        assert!(arms[1].starts_with("1 => Some(layers_2_model_64_ff_256_heads_8_4_8_vocab_800_sinusoidal::build("));
        assert!(arms[2].contains("learned_128::build("));
    }
}
