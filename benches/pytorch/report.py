"""Measured rounds as a CSV file and as a Markdown table."""

import csv
import datetime
import importlib.metadata
import os
import platform
import statistics
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison: the same rounds of both sides."""

    task: str
    shape: str
    sizes: dict
    work: str  # sentences x pieces
    threads: int
    our_threads: int  # what the library made of them
    our_precision: str
    peer: str
    peer_precision: str
    our_seconds: list
    peer_seconds: list
    rate_unit: str
    units: int  # tokens or sentences of a round
    our_mib: float
    peer_mib: float
    same_best: float | None = None
    same_best_with_end: float | None = None

    def ratios(self):
        """How many times as fast this library was, lower quartile, median and upper quartile of the rounds."""
        ratios = [peer / our for our, peer in zip(self.our_seconds, self.peer_seconds, strict=True)]
        return statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3

    def csv_fields(self):
        ours, theirs = statistics.median(self.our_seconds), statistics.median(self.peer_seconds)
        low, middle, high = self.ratios()
        return {
            "task": self.task,
            "shape": self.shape,
            **self.sizes,
            "work": self.work,
            "threads": self.threads,
            "our_threads": self.our_threads,
            "our_precision": self.our_precision,
            "peer": self.peer,
            "peer_precision": self.peer_precision,
            "rounds": len(self.our_seconds),
            "our_ms": f"{ours * 1e3:.2f}",
            "peer_ms": f"{theirs * 1e3:.2f}",
            "ratio": f"{middle:.3f}",
            "ratio_p25": f"{low:.3f}",
            "ratio_p75": f"{high:.3f}",
            "rate_unit": self.rate_unit,
            "our_rate": f"{self.units / ours:.1f}",
            "peer_rate": f"{self.units / theirs:.1f}",
            "our_mib": f"{self.our_mib:.1f}",
            "peer_mib": f"{self.peer_mib:.1f}",
            "same_best": "" if self.same_best is None else f"{self.same_best:.4f}",
            "same_best_with_end": "" if self.same_best_with_end is None else f"{self.same_best_with_end:.4f}",
        }


class Report:
    def __init__(self, folder, versions, pytorch_dropout):
        folder.mkdir(parents=True, exist_ok=True)
        self.csv_path = folder / "beside-pytorch.csv"
        self.markdown_path = folder / "beside-pytorch.md"
        self.versions = versions
        self.pytorch_dropout = pytorch_dropout
        self.rows = []

    def add(self, rows):
        """Prints the rows, and writes both files again: what is done stays if the rest is interrupted."""
        self.rows += rows
        for row in rows:
            print(summary(row), flush=True)
        records = [{**row.csv_fields(), **self.versions} for row in self.rows]
        with self.csv_path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=records[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)
        self.markdown_path.write_text(self.markdown())

    def markdown(self):
        facts = ", ".join(f"{name} {value}" for name, value in self.versions.items())
        training = [row for row in self.rows if row.task == "training step"]
        decoding = [row for row in self.rows if row.task != "training step"]
        parts = ["# Beside PyTorch and CTranslate2", f"Measured by `just bench-pytorch`: {facts}.", METHOD]
        if training:
            parts += ["## Training step", training_method(self.pytorch_dropout), training_table(training)]
        if decoding:
            parts += ["## Beam-4 decoding", DECODING_METHOD, decoding_table(decoding)]
        return "\n\n".join(parts) + "\n"


METHOD = (
    "Both sides get the same sentences in turn, round after round. Times are medians of the rounds; a ratio is the "
    "median of the ratios within rounds, with its quartiles, and above 1 where this library is faster. Memory is the "
    "peak of a process over what it used before it made the model."
)
DECODING_METHOD = (
    "The same weights on both sides: random, made so that translations differ and all have 15 pieces. CTranslate2 "
    "stops there after 15 steps, while this library takes a sixteenth to score the end. *Same best* is the share of "
    "sentences whose best hypothesis is the same; in brackets, when CTranslate2's beam is ranked with the end counted, "
    "as this library ranks its own."
)


def training_method(pytorch_dropout):
    where = {
        "module": "`nn.Transformer` also drops attention weights and hidden layers, which the paper does not",
        "paper": "PyTorch drops only where the paper does",
    }[pytorch_dropout]
    return (
        "Forward, backward and Adam, with dropout 0.1 and label smoothing 0.1. PyTorch is eager `nn.Transformer` with "
        f"fused Adam; {where}. Every other source is four pieces shorter; PyTorch pads it."
    )


def training_table(rows):
    return table(
        ["shape", "sentences", "threads", "precision", "ours ms", "PyTorch ms", "ratio", "ours tok/s", "PyTorch tok/s",
         "ours MiB", "PyTorch MiB"],
        [
            [sizes(row), row.work, threads(row), precision(row), milliseconds(row.our_seconds),
             milliseconds(row.peer_seconds), ratio(row), rate(row, row.our_seconds), rate(row, row.peer_seconds),
             f"{row.our_mib:.0f}", f"{row.peer_mib:.0f}"]
            for row in rows
        ],
    )  # fmt: skip


def decoding_table(rows):
    return table(
        ["shape", "sentences", "threads", "precision", "ours sentences/s", "CTranslate2 sentences/s", "ratio",
         "same best", "ours MiB", "CTranslate2 MiB"],
        [
            [sizes(row), row.work, threads(row), precision(row), rate(row, row.our_seconds),
             rate(row, row.peer_seconds), ratio(row), f"{row.same_best:.1%} ({row.same_best_with_end:.1%})",
             f"{row.our_mib:.0f}", f"{row.peer_mib:.0f}"]
            for row in rows
        ],
    )  # fmt: skip


def table(titles, rows):
    lines = [titles, ["---"] + ["---:"] * (len(titles) - 1), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def sizes(row):
    of = row.sizes
    return f"V {of['vocabulary']}, d {of['d_model']}, h {of['heads']}, N {of['layers']}, d_ff {of['d_ff']}"


def threads(row):
    return str(row.threads) if row.our_threads == row.threads else f"{row.threads}, ours {row.our_threads}"


def precision(row):
    if row.our_precision == row.peer_precision:
        return row.our_precision
    return f"{row.peer_precision}, ours {row.our_precision}"


def milliseconds(seconds):
    return f"{statistics.median(seconds) * 1e3:.1f}"


def rate(row, seconds):
    return f"{row.units / statistics.median(seconds):,.0f}".replace(",", " ")


def ratio(row):
    low, middle, high = row.ratios()
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def summary(row):
    same = ""
    if row.same_best is not None:
        same = f"; same best {row.same_best:.1%}, with the end counted {row.same_best_with_end:.1%}"
    return (
        f"{row.task}, {row.shape}, threads: {threads(row)}, {precision(row)}: ours {milliseconds(row.our_seconds)} ms, "
        f"{row.peer} {milliseconds(row.peer_seconds)} ms, ratio {ratio(row)}, "
        f"memory {row.our_mib:.0f} and {row.peer_mib:.0f} MiB{same}"
    )


def versions(root):
    """Everything that a number depends on, by the name it has in the CSV."""
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "rust": output(["rustc", "--version"]).split()[1],
        "python": platform.python_version(),
        "torch": importlib.metadata.version("torch"),
        "ctranslate2": importlib.metadata.version("ctranslate2"),
        "ablate": output(["git", "-C", str(root), "describe", "--always", "--dirty"]),
    }


def cpu_model():
    with open("/proc/cpuinfo") as file:
        return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))


def output(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
