"""Says whether two sets of trainings, each a history.csv, go the same way on the dev split.

    python tools/peers/curves.py --ours results/mine/base-s*/history.csv --peers pytorch-s*.csv

At every step that all of them measured: mean and standard deviation of the dev loss over the trainings of each side,
the difference of the means with its 95 % interval, and the p-value of Welch's t-test that there is none. The curves
differ where the smallest p is below 0.05 over the number of steps (Bonferroni); then the exit code is 1.
"""

import argparse
import csv
import math
import pathlib
import statistics
import sys
from dataclasses import dataclass

LEVEL = 0.05


@dataclass(frozen=True)
class Sample:
    mean: float
    deviation: float
    count: int

    @classmethod
    def of(cls, values):
        return cls(statistics.fmean(values), statistics.stdev(values), len(values))

    def variance_of_mean(self):
        return self.deviation**2 / self.count


@dataclass(frozen=True)
class Comparison:
    step: int
    ours: Sample
    peers: Sample

    @property
    def difference(self):
        return self.ours.mean - self.peers.mean

    def error_and_degrees(self):
        """Standard error of the difference, and Welch's degrees of freedom."""
        variances = [side.variance_of_mean() for side in (self.ours, self.peers)]
        spread = sum(v**2 / (side.count - 1) for v, side in zip(variances, (self.ours, self.peers)))
        return math.sqrt(sum(variances)), sum(variances) ** 2 / spread

    def p(self):
        error, degrees = self.error_and_degrees()
        return two_sided_p(self.difference / error, degrees)

    def half_interval(self):
        error, degrees = self.error_and_degrees()
        return quantile(LEVEL, degrees) * error


def two_sided_p(t, degrees):
    """The probability of more than |t| under Student's distribution, whose t is sqrt(degrees) tan(angle) where an angle
    has the density cos(angle)^(degrees - 1). NaN stays NaN."""
    at = math.atan(abs(t) / math.sqrt(degrees))
    return integral(at, math.pi / 2, degrees - 1) / integral(0.0, math.pi / 2, degrees - 1)


def integral(low, high, power, parts=2000):
    width = (high - low) / parts
    return width * sum(math.cos(low + (i + 0.5) * width) ** power for i in range(parts))


def quantile(p, degrees):
    """The t that is exceeded with probability p, by bisection."""
    low, high = 0.0, 1000.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_p(middle, degrees) > p else (low, middle)
    return high


def losses(path):
    """Of a history, by split and step."""
    with open(path, newline="") as file:
        return {(row["split"], int(row["step"])): float(row["loss_nats"]) for row in csv.DictReader(file)}


def dev_losses(path):
    return {step: loss for (split, step), loss in losses(path).items() if split == "dev"}


def compare(ours, peers):
    """Paths of histories into comparisons, step by step."""
    curves = [[dev_losses(path) for path in side] for side in (ours, peers)]
    steps = sorted(set.intersection(*(set(curve) for side in curves for curve in side)))
    return [Comparison(step, *(Sample.of([curve[step] for curve in side]) for side in curves)) for step in steps]


def agree(comparisons):
    return all(comparison.p() >= LEVEL / len(comparisons) for comparison in comparisons)


def seed_by_seed(ours, peers):
    """The mean difference of whole curves that share their batches, pair by pair: less noise than between seeds."""
    pairs = [(dev_losses(our), dev_losses(peer)) for our, peer in zip(ours, peers, strict=True)]
    sample = Sample.of([statistics.fmean(our[step] - peer[step] for step in our) for our, peer in pairs])
    error = math.sqrt(sample.variance_of_mean())
    p = two_sided_p(sample.mean / error, sample.count - 1)
    return f"{sample.mean:+.4f} nats with a standard error of {error:.4f}, p = {p:.2g} by the paired t-test"


def markdown(comparisons):
    lines = [
        "| step | ours, nats | PyTorch, nats | difference | 95 % interval | p |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for comparison in comparisons:
        half, difference = comparison.half_interval(), comparison.difference
        cells = [
            f"{comparison.step}",
            *(f"{side.mean:.4f} ± {side.deviation:.4f}" for side in (comparison.ours, comparison.peers)),
            f"{difference:+.4f}",
            f"{difference - half:+.4f} to {difference + half:+.4f}",
            f"{comparison.p():.2g}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def verdict(comparisons):
    least = min(comparisons, key=Comparison.p)
    limit = LEVEL / len(comparisons)
    said = "do not differ by more than their seeds do" if agree(comparisons) else "DIFFER by more than their seeds do"
    return (
        f"The curves {said}: the smallest p, at step {least.step}, is {least.p():.2g}; "
        f"they would differ below {LEVEL} / {len(comparisons)} = {limit:.2g}."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", type=pathlib.Path, nargs="+", required=True, help="histories of one side")
    parser.add_argument("--peers", type=pathlib.Path, nargs="+", required=True, help="and of the other")
    args = parser.parse_args()
    if min(len(args.ours), len(args.peers)) < 2:
        parser.error("one training has no spread: give two or more of each side")
    comparisons = compare(args.ours, args.peers)
    if not comparisons:
        sys.exit("error: the histories have no step in common")
    print(markdown(comparisons), verdict(comparisons), sep="\n\n")
    sys.exit(0 if agree(comparisons) else 1)


if __name__ == "__main__":
    main()
