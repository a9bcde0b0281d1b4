"""Measures this library's training step beside PyTorch's, and its beam search beside CTranslate2's.

The peers get the same sentences in turn, round after round, each in a process of its own that rests while another
works. Ratios are taken within rounds, so that a machine that slows down slows down all of them. Linux only.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from peer import Peer, PeerFailed
from report import Report, Row, versions

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

FIRST_PIECE = 3  # ids below it are special


@dataclass(frozen=True)
class Training:
    shape: str
    sentences: int
    length: int  # pieces of a target, its end counted
    rounds: int
    shorter: int = 4  # pieces that every other source lacks


@dataclass(frozen=True)
class Decoding:
    shape: str
    sentences: int
    length: int = 15
    rounds: int = 5


TRAINING = [
    Training("d64", 64, 16, rounds=15),
    Training("d128", 128, 16, rounds=15),
    Training("d256", 64, 32, rounds=9),
    Training("d512", 32, 32, rounds=5),
]
DECODING = [Decoding("d128-deep", 512), Decoding("d256", 512), Decoding("d512", 128)]
TRAINING_WARM_UP = 3
DECODING_WARM_UP = 1


def main():
    arguments = parse_arguments()
    server = build_server()
    shapes = ask_shapes(server)
    report = Report(arguments.out, versions(ROOT), arguments.pytorch_dropout)
    print("\n".join(f"{name}: {value}" for name, value in report.versions.items()), flush=True)
    if os.getloadavg()[0] > 0.5:
        print(f"warning: this machine is not idle (load {os.getloadavg()[0]:.1f})", file=sys.stderr)
    for threads in arguments.threads:
        for work in chosen(TRAINING, arguments.only) if not arguments.skip_training else []:
            report.add(training_rows(work, threads, shapes[work.shape], server, arguments))
        for work in chosen(DECODING, arguments.only) if not arguments.skip_decoding else []:
            report.add([decoding_row(work, threads, shapes[work.shape], server, arguments)])
    print(f"written: {report.csv_path} and {report.markdown_path}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(dict.fromkeys(work.shape for work in TRAINING + DECODING))
    parser.add_argument("--only", action="append", choices=names, help="a shape; may be given several times")
    parser.add_argument("--skip-training", action="store_true", help="measure decoding alone")
    parser.add_argument("--skip-decoding", action="store_true", help="measure training steps alone")
    parser.add_argument("--rounds", type=positive, help="rounds of every comparison (default: fewer for larger shapes)")
    parser.add_argument("--threads", type=positives, default=[2, 1], help="threads of each peer (default: 2,1)")
    parser.add_argument(
        "--our-precisions", type=precisions, default=["f32"], help="of our training step (default: f32)"
    )
    parser.add_argument(
        "--pytorch-precisions", type=precisions, default=["f32", "bf16"], help="of PyTorch's (default: f32,bf16)"
    )
    parser.add_argument(
        "--pytorch-dropout",
        choices=["module", "paper"],
        default="module",
        help="where PyTorch drops: everywhere `nn.Transformer` does, or where the paper and this library do, which "
        "leaves out attention weights and hidden layers (default: module)",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "results/bench", help="folder (default: results/bench)")
    return parser.parse_args()


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def positives(text):
    return [positive(part) for part in text.split(",")]


def precisions(text):
    names = text.split(",")
    if not set(names) <= {"f32", "bf16"}:
        raise argparse.ArgumentTypeError("f32 or bf16 or both, with a comma between")
    return names


def chosen(works, only):
    return [work for work in works if only is None or work.shape in only]


def build_server():
    """Returns the path of this library's side."""
    build = subprocess.run(
        ["cargo", "bench", "--no-run", "--bench", "beside_pytorch", "--message-format", "json-render-diagnostics"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    messages = [json.loads(line) for line in build.stdout.splitlines()]
    return next(
        message["executable"]
        for message in messages
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "beside_pytorch"
    )


def ask_shapes(server):
    with our_peer("f32", server, 1) as ours:
        return ours.ask("shapes")


def our_peer(precision, server, threads):
    return Peer(f"ours {precision}", [server, "--serve"], environment(threads))


def python_peer(name, worker, threads):
    return Peer(name, [sys.executable, str(HERE / worker)], environment(threads))


def environment(threads):
    return {**os.environ, "OMP_NUM_THREADS": str(threads)}


def training_rows(work, threads, sizes, server, arguments):
    """One row for each of our precisions and each of PyTorch's."""
    print(f"\ntraining step, {work.shape}, {work.sentences} x {work.length}, threads: {threads}", flush=True)
    with ExitStack() as running:
        ours, theirs, our_threads = {}, {}, threads
        for precision in arguments.our_precisions:
            peer = ours[precision] = running.enter_context(our_peer(precision, server, threads))
            our_threads = load_model(peer, shape=work.shape, precision=precision, threads=threads)["threads"]
        for precision in arguments.pytorch_precisions:
            peer = python_peer(f"PyTorch {precision}", "pytorch_worker.py", threads)
            theirs[precision] = running.enter_context(peer)
            options = {"threads": threads, "dropout_sites": arguments.pytorch_dropout}
            load_model(peer, sizes=sizes, precision=precision, **options)
        rng = random.Random(work.shape)
        seconds = measure(
            [*ours.values(), *theirs.values()],
            arguments.rounds or work.rounds,
            TRAINING_WARM_UP,
            lambda: {"command": "step", "pairs": pairs(rng, work, sizes["vocabulary"])},
        )
        return [
            Row(
                task="training step",
                shape=work.shape,
                sizes=sizes,
                work=f"{work.sentences} x {work.length}",
                threads=threads,
                our_threads=our_threads,
                our_precision=our_precision,
                peer="PyTorch",
                peer_precision=peer_precision,
                our_seconds=seconds[our.name],
                peer_seconds=seconds[their.name],
                rate_unit="target tokens/s",
                units=work.sentences * work.length,
                our_mib=our.peak_mib(),
                peer_mib=their.peak_mib(),
            )
            for our_precision, our in ours.items()
            for peer_precision, their in theirs.items()
        ]


def decoding_row(work, threads, sizes, server, arguments):
    print(f"\nbeam-4 decoding, {work.shape}, {work.sentences} sentences, threads: {threads}", flush=True)
    rng = random.Random(work.shape)
    sources = [sentence(rng, sizes["vocabulary"], work.length) for _ in range(work.sentences)]
    with (
        our_peer("f32", server, threads) as ours,
        python_peer("CTranslate2 f32", "ctranslate2_worker.py", threads) as theirs,
        tempfile.TemporaryDirectory() as folder,
    ):
        weights = str(Path(folder) / "weights.safetensors")
        our_threads = load_model(ours, shape=work.shape, precision="f32", threads=threads)["threads"]
        ours.ask("stir")
        ours.ask("export", path=weights)
        load_model(theirs, sizes=sizes, weights=weights, threads=threads)
        seconds = measure(
            [ours, theirs],
            arguments.rounds or work.rounds,
            DECODING_WARM_UP,
            lambda: {"command": "translate", "sources": sources},
        )
        memory = ours.peak_mib(), theirs.peak_mib()
        best = ours.ask("translate", sources=sources)["best"]
        same = share_of_equals(best, theirs.ask("translate", sources=sources)["best"])
        same_with_end = share_of_equals(best, theirs.ask("translate_with_end", sources=sources)["best"])
    return Row(
        task="beam-4 decoding",
        shape=work.shape,
        sizes=sizes,
        work=f"{work.sentences} x {work.length}",
        threads=threads,
        our_threads=our_threads,
        our_precision="f32",
        peer="CTranslate2",
        peer_precision="f32",
        our_seconds=seconds[ours.name],
        peer_seconds=seconds[theirs.name],
        rate_unit="sentences/s",
        units=work.sentences,
        our_mib=memory[0],
        peer_mib=memory[1],
        same_best=same,
        same_best_with_end=same_with_end,
    )


def load_model(peer, **fields):
    peer.ask("ready")
    peer.start_memory_count()
    return peer.ask("load", **fields)


def measure(peers, rounds, warm_up, next_request):
    """Seconds of each round, by the name of the peer."""
    seconds = {peer.name: [] for peer in peers}
    for number in range(-warm_up, rounds):
        request = next_request()
        turn = number % len(peers)  # nobody is always first
        took = {}
        for peer in peers[turn:] + peers[:turn]:
            answer = peer.ask(**request)
            if not math.isfinite(answer.get("loss", 0.0)):
                raise PeerFailed(f"{peer.name}: the loss is {answer['loss']}")
            took[peer.name] = answer["seconds"]
        name = f"round {number + 1} of {rounds}" if number >= 0 else "warm-up"
        print(f"  {name}: " + ", ".join(f"{peer.name} {took[peer.name] * 1e3:.1f} ms" for peer in peers), flush=True)
        if number >= 0:
            for peer, value in took.items():
                seconds[peer].append(value)
    return seconds


def pairs(rng, work, vocabulary):
    """Every other source is shorter: PyTorch pads it, this library does not."""
    pieces = work.length - 1
    return [
        (sentence(rng, vocabulary, pieces - work.shorter * (i % 2)), sentence(rng, vocabulary, pieces))
        for i in range(work.sentences)
    ]


def sentence(rng, vocabulary, pieces):
    return [rng.randrange(FIRST_PIECE, vocabulary) for _ in range(pieces)]


def share_of_equals(left, right):
    return statistics.fmean(a == b for a, b in zip(left, right, strict=True))


if __name__ == "__main__":
    try:
        main()
    except (PeerFailed, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
