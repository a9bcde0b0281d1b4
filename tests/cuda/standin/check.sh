#!/bin/sh
# Builds the stand-ins for CUDA's libraries in a temporary folder and checks them. Needs no GPU.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/build.sh" "$work"
g++ -std=c++17 -O1 -Wall -Wextra -Werror -o "$work/check" "$here"/check*.cpp -ldl -pthread

# Nothing of the caller's may change what the cases find.
unset CUDA_VISIBLE_DEVICES ABLATE_STANDIN_DEVICES ABLATE_STANDIN_MEMORY ABLATE_STANDIN_ORDER ABLATE_STANDIN_LOG
export ABLATE_STANDIN_CACHE="$work/cache"
cd "$work"
./check "$work"
