//! Imports that close a circle and are not undone yet. The list may only become shorter.

/// A file, the file that it imports, and why.
pub const EXCEPTIONS: [(&str, &str, &str); 15] = [
    ("cli/plan/lint.rs", "cli/plan.rs", TOOLS_IN_PARENT),
    ("cli/plan/parameters.rs", "cli/plan.rs", TOOLS_IN_PARENT),
    (
        "grammar/english/phrase.rs",
        "grammar/english/clause.rs",
        "a noun phrase holds a relative clause, and a clause holds noun phrases",
    ),
    ("model/maps.rs", "model/prepared.rs", METHODS_APART),
    ("model/session.rs", "model/prepared.rs", METHODS_APART),
    ("ops/cpu/product.rs", "ops/cpu/product/bf16.rs", TOOLS_IN_PARENT),
    (
        "ops/cuda/context.rs",
        "ops/cuda/attention.rs",
        "the context keeps a cache that attention fills",
    ),
    (
        "results/folder.rs",
        "results/marker.rs",
        "only the tests of the folder use the marker",
    ),
    (
        "results/folder.rs",
        "results/state.rs",
        "the folder is set aside by what its state says",
    ),
    (
        "spec/conflict.rs",
        "spec/check.rs",
        "the limits stand beside their checks",
    ),
    ("spec/keys/data.rs", "spec/keys/mod.rs", TOOLS_IN_PARENT),
    ("spec/keys/decoding.rs", "spec/keys/mod.rs", TOOLS_IN_PARENT),
    ("spec/keys/model.rs", "spec/keys/mod.rs", TOOLS_IN_PARENT),
    ("spec/keys/selection.rs", "spec/keys/mod.rs", TOOLS_IN_PARENT),
    ("spec/keys/training.rs", "spec/keys/mod.rs", TOOLS_IN_PARENT),
];

const TOOLS_IN_PARENT: &str = "the parent defines what its children use, and uses the children";
const METHODS_APART: &str = "methods of a type stand in a file of their own";
