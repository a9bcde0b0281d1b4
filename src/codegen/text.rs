//! One constant and one arm for each shape.

use std::fmt::Write as _;

use crate::plan::ShapeKey;
use crate::spec::{Positional, Suite};

/// A shape and the rows that use it.
struct Use {
    shape: ShapeKey,
    /// `suite row, row; suite row`.
    rows: Vec<String>,
}

/// The text that `generated.rs` includes: `SHAPES`, and `build` with an arm for each of them.
#[must_use]
pub fn generate(suites: &[Suite]) -> String {
    let uses = uses(suites);
    let mut text = String::from("// Written by the build script from the suites in the experiments folder.\n\n");
    text += "/// Shapes this binary was built with, in the order of first use.\n";
    text += "pub const SHAPES: &[ShapeKey] = &[\n";
    for Use { shape, .. } in &uses {
        writeln!(text, "    {},", literal(shape)).expect("a string takes all");
    }
    text += "];\n\n";
    text += "/// A new model of the shape, or `None` when this binary was not built with it.\n";
    text += "#[allow(clippy::too_many_lines, reason = \"one arm for each shape\")]\n";
    text += "pub fn build<Dev: Ops>(\n";
    text +=
        "    key: &ShapeKey,\n    device: &Dev,\n    norm: Norm,\n    seed: u64,\n) -> Option<Box<dyn Seq2Seq>> {\n";
    text += "    match SHAPES.iter().position(|shape| shape == key)? {\n";
    for (index, Use { shape, rows }) in uses.iter().enumerate() {
        writeln!(text, "        // {}", rows.join("; ")).expect("a string takes all");
        let model = model_type(shape);
        writeln!(
            text,
            "        {index} => Some(Box::new(Trainable::new({model}::new(device, norm, seed)))),"
        )
        .expect("a string takes all");
    }
    text += "        _ => None,\n    }\n}\n";
    text
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

    fn arms(text: &str) -> Vec<&str> {
        text.lines()
            .map(str::trim)
            .filter(|line| line.contains("Box::new"))
            .collect()
    }

    #[test]
    fn each_shape_has_one_arm_with_its_sizes_in_order() {
        let text = generate(&[suite("quick.toml")]);
        assert_eq!(
            arms(&text),
            [
                "0 => Some(Box::new(Trainable::new(Transformer::<Dev, 2, 64, 256, 4, 16, 16, 64, 64, 800, Sinusoidal>::new(device, norm, seed)))),",
                "1 => Some(Box::new(Trainable::new(Transformer::<Dev, 2, 64, 256, 8, 4, 8, 32, 64, 800, Sinusoidal>::new(device, norm, seed)))),",
                "2 => Some(Box::new(Trainable::new(Transformer::<Dev, 2, 64, 256, 4, 16, 16, 64, 64, 800, Learned<128>>::new(device, norm, seed)))),",
            ]
        );
    }

    #[test]
    fn a_shape_is_shared_across_suites_and_names_its_rows() {
        let text = generate(&[suite("quick.toml"), suite("again.toml")]);
        assert_eq!(arms(&text).len(), 3);
        assert!(
            text.contains("// quick base; quick D1; again base; again D1\n"),
            "{text}"
        );
    }

    #[test]
    fn arms_and_constants_stand_in_the_same_order() {
        let text = generate(&[suite("quick.toml")]);
        let constants: Vec<_> = text
            .lines()
            .filter(|line| line.trim().starts_with("ShapeKey {"))
            .collect();
        assert_eq!(constants.len(), 3);
        assert!(constants[1].contains("heads: 8, d_k: 4, d_v: 8, vocab: 800, positional: Positional::Sinusoidal }"));
        assert!(constants[2].contains("Positional::Learned { max_positions: 128 }"));
    }
}
