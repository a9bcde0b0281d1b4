set positional-arguments

# List the recipes.
default:
    @{{ just_executable() }} --list

# Train every row of a suite that is not done yet, and write its table.
sweep SUITE="table3-quick" *ARGS:
    cargo run --release -- sweep "$@"

# Show what a suite would run, without running it.
plan SUITE="table3-quick" *ARGS:
    cargo run --release -- plan "$@"

# Write a suite's table again from its finished runs.
report SUITE="table3-quick" *ARGS:
    cargo run --release -- report "$@"

# Run the tests, or those whose name contains a word.
test *ARGS:
    cargo test --release "$@"

# Check everything that CI checks, or only the steps named.
check *STEPS:
    .ci/run "$@"

# Measure training steps.
bench *ARGS:
    cargo bench "$@"

# Format the code.
fmt:
    cargo fmt

# Run clippy over all targets.
lint:
    .ci/run lint

# Build the documentation of the library.
doc:
    .ci/run docs

# Type-check the CUDA feature, without a GPU or the CUDA toolkit.
cuda-check:
    .ci/run cuda
