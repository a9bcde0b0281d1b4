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

# Download a public corpus: multi30k, wmt14-en-de, wmt14-en-fr or iwslt14.
fetch CORPUS *ARGS:
    cargo run --release -- data fetch "$@"

# Run the tests, or those whose name contains a word.
test *ARGS:
    cargo test --release "$@"

# Check everything that CI checks, or only the steps named.
check *STEPS:
    .ci/run "$@"

# Measure operations, training steps, decoding and text, or only what the words after `--` name.
bench *ARGS:
    cargo bench "$@"

# Measure beside PyTorch and CTranslate2. The first time this installs them under target/, about 5 GB with Python 3.11.
bench-pytorch *ARGS:
    #!/usr/bin/env bash
    set -euo pipefail
    venv=target/pytorch-venv
    wanted=benches/pytorch/requirements.txt
    if ! cmp -s "$wanted" "$venv/installed.txt"; then
        python3 -m venv "$venv"
        "$venv/bin/pip" install --requirement "$wanted"
        cp "$wanted" "$venv/installed.txt"
    fi
    exec "$venv/bin/python" benches/pytorch/compare.py "$@"

# Format the code.
fmt:
    cargo fmt

# Run clippy over all targets.
lint:
    .ci/run lint

# Build the documentation of the library.
doc:
    .ci/run docs

# Build with CUDA, which needs neither a GPU nor CUDA's libraries.
build-cuda:
    cargo build --release --features cuda

# Pack a build with CUDA and the suites for a machine that has a GPU.
pack-cuda ARCHIVE="ablate-cuda.tar.gz":
    .ci/pack-cuda "$@"

# Check the CUDA build on this machine, without a GPU.
check-cuda:
    .ci/run cuda

# Check the Python programs in tools/ on small cases. The first time this installs PyTorch under target/, about 5 GB.
check-tools:
    .ci/run tools
