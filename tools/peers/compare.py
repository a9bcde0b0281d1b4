"""Trains the same recipe on the same batches here and in PyTorch, and compares the losses.

    pip install --requirement tools/requirements.txt
    ABLATE_EXPERIMENTS=tools/peers/experiments cargo build --release
    target/release/ablate data fetch multi30k
    python tools/peers/compare.py

The first comparison is without dropout and from the same first weights: every loss must be the same but for rounding.
The second is the recipe itself over several seeds, with each side's own first weights and dropout masks. Finished
trainings are kept. The script writes beside-pytorch-curves.md; if anything differs, the exit code is 1.
"""

import argparse
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import curves

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SUITE = "peers"
STEP_TOLERANCE = 1e-4


class Runs:
    """The trainings of both sides, each made once."""

    def __init__(self, args):
        self.ablate, self.work = args.ablate.resolve(), args.work.resolve()
        self.threads = str(args.threads)
        self.place = ["--experiments", args.experiments.resolve(), "--data-dir", args.data_dir.resolve()]
        self.work.mkdir(parents=True, exist_ok=True)

    def ours(self, row, seed):
        self.call("run", SUITE, row, "--seed", str(seed), "--threads", self.threads, *self.place)
        return self.folder(row, seed) / "history.csv"

    def peers(self, row, seed, *options):
        batches, history = (self.work / f"pytorch-{row}-s{seed}.{kind}" for kind in ("jsonl", "csv"))
        if not history.exists():
            self.call("data", "batches", SUITE, row, batches.name, "--seed", str(seed), *self.place)
            train = [sys.executable, HERE / "train.py", batches, history, "--threads", self.threads, *options]
            subprocess.run(train, check=True)
            batches.unlink()
        return history

    def first_weights(self, seed):
        self.ours("first-weights", seed)
        self.call("export", self.folder("first-weights", seed), "first-weights", "--force")
        return self.work / "first-weights" / "model.safetensors"

    def folder(self, row, seed):
        return self.work / "results" / SUITE / f"{row}-s{seed}"

    def call(self, *arguments):
        subprocess.run([self.ablate, *arguments], cwd=self.work, check=True)


def largest_difference(ours, peers):
    """Of the losses of all rows, those of training and those on dev."""
    ours, peers = (curves.losses(path) for path in (ours, peers))
    if ours.keys() != peers.keys():
        sys.exit("error: the two histories were not measured at the same steps")
    return {split: worst(ours, peers, split) for split in ("train", "dev")}


def worst(ours, peers, split):
    return max(abs(ours[key] - peers[key]) for key in ours if key[0] == split)


def report(args, without_dropout, comparisons, seed_by_seed):
    seeds, steps = len(args.seeds), comparisons[-1].step
    facts = {
        "CPU": cpu_model(),
        "Python": sys.version.split()[0],
        "torch": importlib.metadata.version("torch"),
        "ablate": output(["git", "-C", ROOT, "describe", "--always", "--dirty"]),
    }
    return f"""# The same recipe, trained here and in PyTorch

Made by `python tools/peers/compare.py --seeds {",".join(map(str, args.seeds))}`, after
`ABLATE_EXPERIMENTS=tools/peers/experiments cargo build --release` and `ablate data fetch multi30k`:
{", ".join(f"{name} {value}" for name, value in facts.items())}.

Both sides train [the suite](../../tools/peers/experiments/peers.toml) on the same updates in the same order, which
`ablate data batches` writes; PyTorch by [a script](../../tools/peers/train.py) that shares no code with ours.
Losses are unsmoothed, in nats for each target token, the end counted.

## Without dropout, from the same first weights

The largest difference of a training loss is {without_dropout["train"]:.1e} nats, that of a loss on dev
{without_dropout["dev"]:.1e}.

## As the recipe is

{seeds} seeds of each side, {steps} updates: mean ± standard deviation of the dev loss over the seeds. First weights and
dropout masks are each side's own. The interval and p are those of Welch's t-test, step by step.

{curves.markdown(comparisons)}

{curves.verdict(comparisons)}

Trainings with the same seed also share their batches. Seed by seed, a whole curve of ours lies above PyTorch's by
{seed_by_seed}.
"""


def cpu_model():
    with open("/proc/cpuinfo") as file:
        return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))


def output(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3], help="of both sides, two or more (default: 1,2,3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of each side (default: all)")
    parser.add_argument("--ablate", type=pathlib.Path, default=ROOT / "target/release/ablate", help="the program")
    parser.add_argument(
        "--experiments", type=pathlib.Path, default=HERE / "experiments", help="folder of the suite `peers`"
    )
    parser.add_argument("--data-dir", type=pathlib.Path, default=ROOT / "data", help="folder of corpora")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/peers", help="folder of the trainings")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/bench", help="folder of the report")
    return parser.parse_args()


def seeds(text):
    numbers = [int(part) for part in text.split(",")]
    if len(set(numbers)) < 2:
        raise argparse.ArgumentTypeError("one training has no spread: name two or more")
    return numbers


def main():
    args = parse_arguments()
    runs, first = Runs(args), args.seeds[0]
    weights = runs.first_weights(first)
    without_dropout = largest_difference(
        runs.ours("no-dropout", first), runs.peers("no-dropout", first, "--weights", weights)
    )
    sides = [[train("base", seed) for seed in args.seeds] for train in (runs.ours, runs.peers)]
    comparisons = curves.compare(*sides)
    text = report(args, without_dropout, comparisons, curves.seed_by_seed(*sides))
    (args.out / "beside-pytorch-curves.md").write_text(text)
    print(text)
    is_same = all(difference <= STEP_TOLERANCE for difference in without_dropout.values())
    sys.exit(0 if is_same and curves.agree(comparisons) else 1)


if __name__ == "__main__":
    main()
