"""Golden values for tests/pytorch.rs: forward pass, loss, every gradient and ten training steps of small models.

    pip install torch==2.15.0 numpy==2.4.6 safetensors==0.8.0
    python tests/golden/transformer/make.py          # rewrites the .safetensors files beside it

The models are written with PyTorch's own building blocks on padded batches, so that nothing here shares a line, or an
idea about packing, with what it checks.
"""

import math
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
LAYERS, D_MODEL, D_FF, HEADS, D_K, D_V, VOCAB, POSITIONS = 2, 16, 24, 2, 6, 10, 23, 12
BOS, EOS = 1, 2
SMOOTHING, WARMUP, FACTOR = 0.1, 4, 0.3
SOURCES = [[5, 9, 3, 17, 22, EOS], [4, EOS], [8, 8, 21, EOS], [EOS]]
TARGETS = [[7, 3, 11], [19, 20, 21, 6, 5], [], [10]]


def pad(sentences):
    longest = max(map(len, sentences))
    ids = torch.tensor([s + [0] * (longest - len(s)) for s in sentences])
    real = torch.tensor([[True] * len(s) + [False] * (longest - len(s)) for s in sentences])
    return ids, real


class Model:
    def __init__(self, norm, positional, window, generator):
        self.norm, self.positional, self.window = norm, positional, window
        self.weights = {}

        def draw(name, *shape, around=0.0):
            values = torch.randn(*shape, generator=generator) * 0.3 + around
            self.weights[name] = values.requires_grad_()

        def norm_pair(name):
            draw(f"{name}.weight", D_MODEL, around=1.0)
            draw(f"{name}.bias", D_MODEL)

        def attention(name):
            draw(f"{name}.query.weight", HEADS * D_K, D_MODEL)
            draw(f"{name}.key.weight", HEADS * D_K, D_MODEL)
            draw(f"{name}.value.weight", HEADS * D_V, D_MODEL)
            draw(f"{name}.output.weight", D_MODEL, HEADS * D_V)

        def feed_forward(name):
            draw(f"{name}.inner.weight", D_FF, D_MODEL)
            draw(f"{name}.inner.bias", D_FF)
            draw(f"{name}.outer.weight", D_MODEL, D_FF)
            draw(f"{name}.outer.bias", D_MODEL)

        draw("embedding.weight", VOCAB, D_MODEL)
        if positional == "learned":
            draw("positions.weight", POSITIONS, D_MODEL)
        for i in range(LAYERS):
            attention(f"encoder.{i}.attention")
            norm_pair(f"encoder.{i}.attention_norm")
            feed_forward(f"encoder.{i}.feed_forward")
            norm_pair(f"encoder.{i}.feed_forward_norm")
        for i in range(LAYERS):
            attention(f"decoder.{i}.self_attention")
            norm_pair(f"decoder.{i}.self_attention_norm")
            attention(f"decoder.{i}.cross_attention")
            norm_pair(f"decoder.{i}.cross_attention_norm")
            feed_forward(f"decoder.{i}.feed_forward")
            norm_pair(f"decoder.{i}.feed_forward_norm")
        if norm == "pre":
            norm_pair("encoder_norm")
            norm_pair("decoder_norm")

    def linear(self, name, x):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def layer_norm(self, name, x):
        return F.layer_norm(x, (D_MODEL,), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def attend(self, name, x, memory, mask):
        def split(rows, size):
            return rows.unflatten(-1, (HEADS, size)).transpose(1, 2)

        query = split(self.linear(f"{name}.query", x), D_K)
        key = split(self.linear(f"{name}.key", memory), D_K)
        value = split(self.linear(f"{name}.value", memory), D_V)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.linear(f"{name}.output", mixed.transpose(1, 2).flatten(2))

    def feed_forward(self, name, x):
        return self.linear(f"{name}.outer", F.relu(self.linear(f"{name}.inner", x)))

    def residual(self, name, x, sublayer):
        if self.norm == "post":
            return self.layer_norm(name, x + sublayer(x))
        return x + sublayer(self.layer_norm(name, x))

    def embed(self, ids):
        length = ids.shape[1]
        if self.positional == "learned":
            table = self.weights["positions.weight"][:length]
        else:
            position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
            rate = torch.exp(torch.arange(0, D_MODEL, 2, dtype=torch.float64) * (-math.log(10000.0) / D_MODEL))
            table = torch.stack([torch.sin(position * rate), torch.cos(position * rate)], -1).flatten(1).float()
        return F.embedding(ids, self.weights["embedding.weight"]) * math.sqrt(D_MODEL) + table

    def band(self, length):
        """Who lies at most a window from whom."""
        position = torch.arange(length)
        apart = (position[:, None] - position[None, :]).abs()
        return apart <= (length if self.window is None else self.window)

    def log_probabilities(self, source, source_real, target):
        source_mask = source_real[:, None, None, :]
        # Padding sees at least itself: a row that sees nothing is no number.
        within = (source_mask | torch.eye(source.shape[1], dtype=torch.bool)) & self.band(source.shape[1])
        length = target.shape[1]
        causal = (torch.ones(length, length, dtype=torch.bool).tril() & self.band(length))[None, None]
        x = self.embed(source)
        for i in range(LAYERS):
            name = f"encoder.{i}"
            x = self.residual(f"{name}.attention_norm", x, lambda h: self.attend(f"{name}.attention", h, h, within))
            x = self.residual(f"{name}.feed_forward_norm", x, lambda h: self.feed_forward(f"{name}.feed_forward", h))
        memory = self.layer_norm("encoder_norm", x) if self.norm == "pre" else x
        x = self.embed(target)
        for i in range(LAYERS):
            name = f"decoder.{i}"
            x = self.residual(
                f"{name}.self_attention_norm", x, lambda h: self.attend(f"{name}.self_attention", h, h, causal)
            )
            x = self.residual(
                f"{name}.cross_attention_norm",
                x,
                lambda h: self.attend(f"{name}.cross_attention", h, memory, source_mask),
            )
            x = self.residual(f"{name}.feed_forward_norm", x, lambda h: self.feed_forward(f"{name}.feed_forward", h))
        if self.norm == "pre":
            x = self.layer_norm("decoder_norm", x)
        return (x @ self.weights["embedding.weight"].T).log_softmax(-1)


def make(norm, positional, window=None):
    model = Model(norm, positional, window, torch.Generator().manual_seed(20170612))
    source, source_real = pad(SOURCES)
    target, real = pad([[BOS] + t for t in TARGETS])
    labels, _ = pad([t + [EOS] for t in TARGETS])

    golden = {f"weight/{name}": w.detach().clone() for name, w in model.weights.items()}

    def losses():
        rows = model.log_probabilities(source, source_real, target)[real]
        smoothed = F.cross_entropy(rows, labels[real], label_smoothing=SMOOTHING)
        return rows, smoothed, F.nll_loss(rows, labels[real])

    rows, smoothed, nll = losses()
    smoothed.backward()
    golden["log_probabilities"] = rows.detach()
    golden["smoothed"] = smoothed.detach().reshape(1)
    golden["nll"] = nll.detach().reshape(1)
    golden |= {f"gradient/{name}": w.grad.clone() for name, w in model.weights.items()}

    optimizer = torch.optim.Adam(model.weights.values(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    history = []
    for step in range(1, 11):
        optimizer.param_groups[0]["lr"] = FACTOR * D_MODEL**-0.5 * min(step**-0.5, step * WARMUP**-1.5)
        optimizer.zero_grad()
        _, smoothed, _ = losses()
        smoothed.backward()
        optimizer.step()
        history.append(smoothed.detach())
    golden["training"] = torch.stack(history)
    name = f"{norm}-{positional}" if window is None else f"{norm}-{positional}-window-{window}"
    save_file({k: v.contiguous() for k, v in golden.items()}, HERE / f"{name}.safetensors")
    print(name, f"torch {torch.__version__}", [round(float(x), 4) for x in history])


make("post", "sinusoidal")
make("pre", "learned")
make("post", "sinusoidal", window=1)
