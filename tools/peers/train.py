"""Trains the paper's Transformer in PyTorch on the batches of a run, and writes a history.csv as the run does.

    pip install --requirement tools/requirements.txt
    ablate data batches table3-quick base --seed 1 batches.jsonl
    python tools/peers/train.py batches.jsonl history.csv

The batches, their order and the recipe are those of the run; the first weights and the dropout masks are PyTorch's own,
unless --weights names the model.safetensors of an export to begin with. The model is written again from the README.md of
an export, on padded batches. It shares no code, and no idea about packing, with the program that it is compared with.
"""

import argparse
import csv
import json
import math
import pathlib
import sys
import tomllib
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

BOS, EOS = 1, 2
COLUMNS = ["step", "split", "loss_nats", "ppl", "lr", "grad_norm", "tokens_per_s", "bleu"]
PAPER = {
    ("model", "attention_window"): None,
    ("model", "positional"): "sinusoidal",
    ("model", "norm"): "post",
    ("training", "precision"): "f32",
}


class Attention(nn.Module):
    def __init__(self, width, heads, d_k, d_v):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(width, heads * d_k, bias=False)
        self.k_proj = nn.Linear(width, heads * d_k, bias=False)
        self.v_proj = nn.Linear(width, heads * d_v, bias=False)
        self.out_proj = nn.Linear(heads * d_v, width, bias=False)

    def forward(self, x, memory, mask):
        def split(rows):  # [B, T, H*K] -> [B, H, T, K]
            return rows.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        query, key, value = split(self.q_proj(x)), split(self.k_proj(memory)), split(self.v_proj(memory))
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def initialise(self):
        """The three projections are drawn as if they were one matrix."""
        parts = (self.q_proj, self.k_proj, self.v_proj)
        outputs = sum(part.out_features for part in parts)
        for part in parts:
            uniform(part.weight, 6 / (part.in_features + outputs))
        xavier(self.out_proj)


class Layer(nn.Module):
    """Of the encoder, or with attention to the encoder's output, of the decoder."""

    def __init__(self, model, dropout, is_decoder):
        super().__init__()
        width = model["d_model"]
        sizes = (width, model["heads"], model["d_k"], model["d_v"])
        self.self_attn = Attention(*sizes)
        self.multihead_attn = Attention(*sizes) if is_decoder else None
        self.linear1, self.linear2 = nn.Linear(width, model["d_ff"]), nn.Linear(model["d_ff"], width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.norm3 = nn.LayerNorm(width) if is_decoder else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.norm1(x + self.dropout(self.self_attn(x, x, mask)))
        if self.multihead_attn is not None:
            x = self.norm2(x + self.dropout(self.multihead_attn(x, memory, memory_mask)))
        last_norm = self.norm3 or self.norm2
        return last_norm(x + self.dropout(self.linear2(F.relu(self.linear1(x)))))

    def initialise(self):
        for linear in (self.linear1, self.linear2):
            xavier(linear)
            nn.init.zeros_(linear.bias)


class Transformer(nn.Module):
    def __init__(self, model, vocabulary, dropout):
        super().__init__()
        self.width = model["d_model"]
        self.embedding = nn.Embedding(vocabulary, self.width)
        self.dropout = nn.Dropout(dropout)
        for stack in ("encoder", "decoder"):
            layers = [Layer(model, dropout, stack == "decoder") for _ in range(model["layers"])]
            self.add_module(stack, nn.ModuleDict({"layers": nn.ModuleList(layers)}))

    def initialise(self):
        uniform(self.embedding.weight, 3 / self.width)
        for module in self.modules():
            if isinstance(module, (Attention, Layer)):
                module.initialise()

    def embed(self, ids):
        rows = self.embedding(ids) * math.sqrt(self.width)
        return self.dropout(rows + sinusoids(ids.shape[1], self.width))

    def forward(self, batch):
        """The logits of every real target token and end, [N, V]."""
        source_mask = batch.source_is_real[:, None, None, :]
        # Padding stands behind all real tokens: no real row of the decoder sees it.
        causal = torch.ones(batch.target.shape[1], batch.target.shape[1], dtype=torch.bool).tril()
        memory = self.embed(batch.source)
        for layer in self.encoder["layers"]:
            memory = layer(memory, source_mask)
        x = self.embed(batch.target)
        for layer in self.decoder["layers"]:
            x = layer(x, causal, memory, source_mask)
        return x[batch.target_is_real] @ self.embedding.weight.T


def uniform(weight, bound_squared):
    bound = math.sqrt(bound_squared)
    nn.init.uniform_(weight, -bound, bound)


def xavier(linear):
    nn.init.xavier_uniform_(linear.weight)


def sinusoids(count, width):
    rate = 10000.0 ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.arange(count)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()


@dataclass
class Batch:
    source: torch.Tensor
    source_is_real: torch.Tensor
    target: torch.Tensor
    target_is_real: torch.Tensor
    labels: torch.Tensor  # of the real rows alone

    @classmethod
    def of(cls, pairs):
        source, source_is_real = pad([source + [EOS] for source, _ in pairs])
        target, target_is_real = pad([[BOS] + target for _, target in pairs])
        labels = torch.tensor([token for _, target in pairs for token in target + [EOS]])
        return cls(source, source_is_real, target, target_is_real, labels)


def pad(sentences):
    longest = max(map(len, sentences))
    ids = torch.tensor([sentence + [0] * (longest - len(sentence)) for sentence in sentences])
    is_real = torch.arange(longest) < torch.tensor([[len(sentence)] for sentence in sentences])
    return ids, is_real


class Losses:
    """A sum over target tokens, unsmoothed."""

    def __init__(self):
        self.nll, self.tokens = 0.0, 0

    def add(self, logits, labels):
        with torch.no_grad():
            self.nll += F.cross_entropy(logits, labels, reduction="sum").item()
        self.tokens += len(labels)

    def row(self, step, split, **others):
        loss = self.nll / self.tokens
        return {"step": step, "split": split, "loss_nats": loss, "ppl": math.exp(loss), **others}


class Trainer:
    def __init__(self, model, spec):
        self.model, self.training = model, spec["training"]
        self.smoothing = spec["regularization"]["label_smoothing"]
        betas = (self.training["adam_beta1"], self.training["adam_beta2"])
        self.adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=betas, eps=self.training["adam_epsilon"])

    def learning_rate(self, step):
        warmup = self.training["warmup_steps"]
        factor = self.training["learning_rate_factor"] * self.model.width**-0.5
        return factor * min(step**-0.5, step * warmup**-1.5)

    def update(self, step, micro_batches, losses):
        """Adds to `losses`, and returns learning rate and norm of the gradient."""
        self.model.train()
        batches = [Batch.of(pairs) for pairs in micro_batches]
        tokens = sum(len(batch.labels) for batch in batches)
        self.adam.zero_grad()
        for batch in batches:
            logits = self.model(batch)
            losses.add(logits, batch.labels)
            loss = F.cross_entropy(logits, batch.labels, label_smoothing=self.smoothing, reduction="sum")
            (loss / tokens).backward()
        norm = nn.utils.get_total_norm([weight.grad for weight in self.model.parameters()]).item()
        self.adam.param_groups[0]["lr"] = self.learning_rate(step)
        self.adam.step()
        return {"lr": self.learning_rate(step), "grad_norm": norm}


@torch.no_grad()
def evaluate(model, dev):
    model.eval()
    losses = Losses()
    for batch in dev:
        losses.add(model(batch), batch.labels)
    return losses


def in_batches(pairs, sentences=32):
    """Sorted by length, which leaves little to pad; the sum is the same in any order."""
    pairs = sorted(pairs, key=lambda pair: len(pair[1]))
    return [Batch.of(pairs[start : start + sentences]) for start in range(0, len(pairs), sentences)]


def train(trainer, updates, steps, validate_every, dev):
    """Yields rows of the history."""
    since_validation = Losses()
    for step, line in zip(range(1, steps + 1), updates):
        rates = trainer.update(step, json.loads(line), since_validation)
        if step % validate_every == 0 or step == steps:
            yield since_validation.row(step, "train", **rates)
            yield evaluate(trainer.model, dev).row(step, "dev")
            since_validation = Losses()


def first_model(spec, seed, weights):
    torch.manual_seed(seed)
    model = Transformer(spec["model"], spec["data"]["vocab_size"], spec["regularization"]["dropout"])
    if weights is None:
        model.initialise()
    else:
        model.load_state_dict(load_file(weights))
    return model


def refuse_others(spec):
    """Only the paper's model is written here."""
    for (table, key), wanted in PAPER.items():
        found = spec[table].get(key)
        if found != wanted:
            sys.exit(f"error: {table}.{key} is {found!r}; this script knows only {wanted!r}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("batches", type=pathlib.Path, help="file that `ablate data batches` wrote")
    parser.add_argument("history", type=pathlib.Path, help="CSV to write, whole or not at all")
    parser.add_argument("--seed", type=int, help="of weights and dropout (default: that of the batches)")
    parser.add_argument("--steps", type=int, help="updates to make (default: all of the file)")
    parser.add_argument("--validate-every", type=int, metavar="N", help="updates (default: as the run)")
    parser.add_argument("--weights", type=pathlib.Path, help="first weights: model.safetensors of an export")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch (default: 1)")
    return parser.parse_args()


def main():
    args = parse_arguments()
    torch.set_num_threads(args.threads)
    partial = args.history.with_name(args.history.name + ".partial")
    with args.batches.open() as updates, partial.open("w", newline="") as file:
        header = json.loads(next(updates))
        spec = tomllib.loads(header["spec"])
        refuse_others(spec)
        steps = min(args.steps or header["updates"], header["updates"])
        validate_every = args.validate_every or spec["training"]["validate_every"]
        seed = header["seed"] if args.seed is None else args.seed
        trainer = Trainer(first_model(spec, seed, args.weights), spec)
        history = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        history.writeheader()
        for row in train(trainer, updates, steps, validate_every, in_batches(header["dev"])):
            history.writerow(row)
            file.flush()
            print(f"step {row['step']}: {row['split']} perplexity {row['ppl']:.3f}", file=sys.stderr)
    partial.rename(args.history)


if __name__ == "__main__":
    main()
