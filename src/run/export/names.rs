//! The names of an export's files, and of the tensors in them: those of `PyTorch`'s own `nn.Transformer` where it has
//! one.

pub const WEIGHTS: &str = "model.safetensors";
pub const TOKENIZER: &str = "tokenizer.json";
pub const SPEC: &str = "spec.toml";
pub const README: &str = "README.md";
/// Files of an export, in the order in which they get their names.
pub const FILES: [&str; 4] = [README, TOKENIZER, SPEC, WEIGHTS];

/// Name of a module in the model, and in an export.
type Renamed = (&'static str, &'static str);

const MODEL: [Renamed; 4] = [
    ("embedding", "embedding"),
    ("positions", "position_embedding"),
    ("encoder_norm", "encoder.norm"),
    ("decoder_norm", "decoder.norm"),
];

const ENCODER_LAYER: [Renamed; 8] = [
    ("attention.query", "self_attn.q_proj"),
    ("attention.key", "self_attn.k_proj"),
    ("attention.value", "self_attn.v_proj"),
    ("attention.output", "self_attn.out_proj"),
    ("attention_norm", "norm1"),
    ("feed_forward.inner", "linear1"),
    ("feed_forward.outer", "linear2"),
    ("feed_forward_norm", "norm2"),
];

const DECODER_LAYER: [Renamed; 13] = [
    ("self_attention.query", "self_attn.q_proj"),
    ("self_attention.key", "self_attn.k_proj"),
    ("self_attention.value", "self_attn.v_proj"),
    ("self_attention.output", "self_attn.out_proj"),
    ("self_attention_norm", "norm1"),
    ("cross_attention.query", "multihead_attn.q_proj"),
    ("cross_attention.key", "multihead_attn.k_proj"),
    ("cross_attention.value", "multihead_attn.v_proj"),
    ("cross_attention.output", "multihead_attn.out_proj"),
    ("cross_attention_norm", "norm2"),
    ("feed_forward.inner", "linear1"),
    ("feed_forward.outer", "linear2"),
    ("feed_forward_norm", "norm3"),
];

/// The exported name of a tensor.
///
/// # Panics
/// If the model has a tensor that no table lists: a bug of ours.
pub fn exported_name(name: &str) -> String {
    renamed(name).unwrap_or_else(|| panic!("the tensor {name} has a name in exports"))
}

fn renamed(name: &str) -> Option<String> {
    let (module, kind) = name.rsplit_once('.')?;
    let (stack, layers) = match module.split_once('.') {
        Some(("encoder", _)) => ("encoder", &ENCODER_LAYER[..]),
        Some(("decoder", _)) => ("decoder", &DECODER_LAYER[..]),
        _ => return Some(format!("{}.{kind}", look_up(&MODEL, module)?)),
    };
    let (layer, inside) = module.strip_prefix(stack)?.strip_prefix('.')?.split_once('.')?;
    Some(format!("{stack}.layers.{layer}.{}.{kind}", look_up(layers, inside)?))
}

fn look_up(table: &[Renamed], module: &str) -> Option<&'static str> {
    let found = table.iter().find(|(ours, _)| *ours == module);
    found.map(|(_, exported)| *exported)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dfdx::prelude::Cpu;

    use super::*;
    use crate::model::{Architecture, Seq2Seq, Trainable, Transformer};
    use crate::ops::Of;
    use crate::spec::{Norm, Positional};

    /// The names of a model that has every kind of tensor, each once.
    fn names() -> Vec<String> {
        let architecture = Architecture {
            norm: Norm::Pre,
            positional: Positional::Learned { max_positions: 4 },
            ..Architecture::new(1, 2, 7)
        };
        let model = Transformer::<Cpu, Of<8, 12, 6, 10>>::new(&Cpu::default(), architecture, 1);
        let mut model = Trainable::new(model);
        model.weights().iter().map(|array| exported_name(&array.name)).collect()
    }

    #[test]
    fn the_layout_documents_every_tensor_once() {
        let layout = include_str!("layout.md");
        let rows = layout
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let mut documented: Vec<_> = rows
            .map(|(name, _)| name.replace("{i}", "0"))
            .filter(|name| FILES.iter().all(|file| file != name))
            .collect();
        documented.sort();
        let mut names = names();
        names.sort();
        assert_eq!(documented, names);
    }

    #[test]
    fn no_two_tensors_share_a_name() {
        let names = names();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn layers_keep_their_numbers() {
        assert_eq!(
            exported_name("decoder.11.cross_attention.query.weight"),
            "decoder.layers.11.multihead_attn.q_proj.weight"
        );
    }
}
