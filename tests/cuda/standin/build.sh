#!/bin/sh
# Builds the stand-ins for CUDA's libraries: build.sh OUT_DIR
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

# Only finished libraries appear in the folder, so that several tests may build at once.
work=$(mktemp -d "$out/.build.XXXXXX")
trap 'rm -rf "$work"' EXIT

compile() {
    source=$1
    shift
    g++ -std=c++17 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -Wa,-I"$here" "$@" \
        -c "$here/$source.cpp" -o "$work/$source.o"
}

link() {
    library=$1
    shift
    # Calls within a library stay there, even if the program that loads it has functions of the same names.
    g++ -shared -Wl,-z,defs -Wl,-Bsymbolic -Wl,-soname,"$library" -o "$work/$library" "$@" -ldl -pthread
    mv "$work/$library" "$out/$library"
}

compile cublas -O3 &
jobs=$!
for source in driver settings modules memory blocks fibers faults nvrtc; do
    compile $source &
    jobs="$jobs $!"
done
good=true
for job in $jobs; do
    wait "$job" || good=false
done
$good

cd "$work"
link libcuda.so.1 driver.o settings.o modules.o memory.o blocks.o fibers.o faults.o
link libnvrtc.so.13 nvrtc.o
link libcublas.so.13 cublas.o
