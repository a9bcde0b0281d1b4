"""Translates with an export, and computes in PyTorch the log-probability of every hypothesis.

    pip install --requirement tools/requirements.txt
    ablate export results/table3-quick/base-s1
    python tools/export/check.py exports/table3-quick/base-s1 < sentences.txt

The script checks the log-probability and the score of every hypothesis, the attention weights of every head for the best
hypotheses, and that the weights as PyTorch writes them back give the same hypotheses. It prints every fault; with any
fault the exit code is 1.

The model is written again from the README.md of an export, with PyTorch's own functions, in float64 and one sentence at
a time. It shares no code, and no idea about batches and caches, with the program that it checks.
"""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

BOS, EOS = 1, 2


class Model:
    def __init__(self, folder):
        spec = tomllib.loads((folder / "spec.toml").read_text())["model"]
        self.layers, self.width, self.heads = spec["layers"], spec["d_model"], spec["heads"]
        self.window = spec.get("attention_window")
        self.pre_norm, self.learned = spec["norm"] == "pre", spec["positional"] == "learned"
        self.weights = {name: weight.double() for name, weight in load_file(folder / "model.safetensors").items()}
        self.unused = set(self.weights)
        self.maps = {}

    def weight(self, name):
        self.unused.discard(name)
        return self.weights[name]

    def linear(self, name, x, bias=True):
        return F.linear(x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias") if bias else None)

    def norm(self, name, x):
        return F.layer_norm(x, (self.width,), self.weight(f"{name}.weight"), self.weight(f"{name}.bias"))

    def attend(self, name, x, memory, mask=None):
        def heads(projection, rows):
            return self.linear(f"{name}.{projection}", rows, bias=False).unflatten(-1, (self.heads, -1)).transpose(0, 1)

        query, key, value = heads("q_proj", x), heads("k_proj", memory), heads("v_proj", memory)
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        self.maps[name] = scores.softmax(-1)
        return self.linear(f"{name}.out_proj", (self.maps[name] @ value).transpose(0, 1).flatten(1), bias=False)

    def feed_forward(self, name, x):
        return self.linear(f"{name}.linear2", F.relu(self.linear(f"{name}.linear1", x)))

    def residual(self, norm, x, sublayer):
        return x + sublayer(self.norm(norm, x)) if self.pre_norm else self.norm(norm, x + sublayer(x))

    def embed(self, ids):
        rows = F.embedding(torch.tensor(ids), self.weight("embedding.weight")) * math.sqrt(self.width)
        return rows + self.positions(len(ids))

    def positions(self, count):
        position = torch.arange(count)
        if self.learned:
            table = self.weight("position_embedding.weight")
            return table[position.clamp(max=len(table) - 1)]
        rate = 10000.0 ** -(torch.arange(0, self.width, 2, dtype=torch.float64) / self.width)
        angle = position[:, None] * rate
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)

    def band(self, count):
        """Who lies at most a window from whom; everybody where there is no window."""
        position = torch.arange(count)
        apart = (position[:, None] - position[None, :]).abs()
        return apart <= (count if self.window is None else self.window)

    def encode(self, ids):
        x, band = self.embed(ids), self.band(len(ids))
        for i in range(self.layers):
            layer = f"encoder.layers.{i}"
            x = self.residual(f"{layer}.norm1", x, lambda h: self.attend(f"{layer}.self_attn", h, h, band))
            x = self.residual(f"{layer}.norm2", x, lambda h: self.feed_forward(layer, h))
        return self.norm("encoder.norm", x) if self.pre_norm else x

    def decode(self, ids, memory):
        x, causal = self.embed(ids), torch.ones(len(ids), len(ids), dtype=torch.bool).tril() & self.band(len(ids))
        for i in range(self.layers):
            layer = f"decoder.layers.{i}"
            x = self.residual(f"{layer}.norm1", x, lambda h: self.attend(f"{layer}.self_attn", h, h, causal))
            x = self.residual(f"{layer}.norm2", x, lambda h: self.attend(f"{layer}.multihead_attn", h, memory))
            x = self.residual(f"{layer}.norm3", x, lambda h: self.feed_forward(layer, h))
        return self.norm("decoder.norm", x) if self.pre_norm else x

    def log_probabilities(self, source, target):
        """Of every target token and of the end, each given all before it."""
        rows = self.decode([BOS] + target, self.encode(source + [EOS]))
        classes = (rows @ self.weight("embedding.weight").T).log_softmax(-1)
        return classes[torch.arange(len(rows)), torch.tensor(target + [EOS])]


def translate(binary, folder, sentences, *options):
    command = [binary, "translate", folder, "--json", *options]
    output = subprocess.run(command, input=sentences, stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def difference(ours, right):
    ours, right = torch.as_tensor(ours, dtype=torch.float64), torch.as_tensor(right, dtype=torch.float64)
    if ours.shape != right.shape:
        return math.inf
    return (ours - right).abs().nan_to_num(math.inf).max().item()


def difference_of_attention(model, heads):
    kinds = {
        "encoder_self_attention": "encoder.layers.{}.self_attn",
        "decoder_self_attention": "decoder.layers.{}.self_attn",
        "cross_attention": "decoder.layers.{}.multihead_attn",
    }
    return max(
        difference(heads[kind], torch.stack([model.maps[name.format(i)] for i in range(model.layers)]))
        for kind, name in kinds.items()
    )


def written_back(folder, copy):
    """The same export, with the weights as PyTorch writes them."""
    shutil.copytree(folder, copy)
    save_file(load_file(folder / "model.safetensors"), copy / "model.safetensors")
    return copy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=pathlib.Path, help="folder that `ablate export` wrote")
    parser.add_argument("--ablate", default="ablate", help="the program (default: the one on the path)")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="largest difference that is allowed")
    parser.add_argument("--tokens", action="store_true", help="print the log-probability of every token")
    args = parser.parse_args()

    sentences = sys.stdin.buffer.read()
    model = Model(args.export)
    vocabulary = json.loads((args.export / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    decoding = tomllib.loads((args.export / "spec.toml").read_text())["decoding"]
    alpha = decoding.get("length_penalty", 0.0)
    n_best = ("--n-best", str(decoding["beam"]))

    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        hypotheses = translate(args.ablate, args.export, sentences, *n_best, "--attention", scratch / "heads.jsonl")
        attention = [json.loads(line) for line in (scratch / "heads.jsonl").read_text("utf-8").splitlines()]
        if translate(args.ablate, written_back(args.export, scratch / "copy"), sentences, *n_best) != hypotheses:
            faults.append("the weights that PyTorch wrote back translate otherwise")

    probability = share = 0.0
    for hypothesis in hypotheses:
        source, target = ([vocabulary[token] for token in hypothesis[key]] for key in ("source_tokens", "tokens"))
        if not source:
            continue  # Nothing translates to nothing, without the model.
        log_probabilities = model.log_probabilities(source, target)
        if args.tokens:
            shown = (f"{token} {x:.4f}" for token, x in zip(hypothesis["tokens"] + ["</s>"], log_probabilities))
            print(hypothesis["line"], hypothesis["rank"], *shown, sep="\t")
        total = log_probabilities.sum().item()
        score = total / ((5 + len(target) + 1) / 6) ** alpha
        ours = (hypothesis["log_probability"], hypothesis["score"])
        probability = max(probability, difference(ours, (total, score)))
        if hypothesis["rank"] == 1:
            share = max(share, difference_of_attention(model, attention[hypothesis["line"] - 1]))

    faults += [f"{name} was not needed" for name in sorted(model.unused)]
    for what, worst in (("log-probability", probability), ("attention", share)):
        if not worst <= args.tolerance:
            faults.append(f"a difference in {what} of {worst:.2g} is more than {args.tolerance:.2g}")
    print(f"{len(hypotheses)} hypotheses; largest difference in log-probability {probability:.2g}, in attention {share:.2g}")
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults or model.maps == {} else 0)


if __name__ == "__main__":
    with torch.no_grad():
        main()
