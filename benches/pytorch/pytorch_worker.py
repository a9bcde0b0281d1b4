"""PyTorch's training step: `nn.Transformer` with fused Adam, eager, f32 or bf16 autocast."""

import math
import time

import torch
from line_server import serve
from torch import nn

PAD, BOS, EOS = 0, 1, 2  # 0 is the unknown piece elsewhere; the sentences hold none.
LONGEST = 512


class Seq2Seq(nn.Module):
    def __init__(self, vocabulary, d_model, heads, layers, d_ff, dropout, dropout_sites):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocabulary, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.body = nn.Transformer(d_model, heads, layers, layers, d_ff, dropout, batch_first=True)
        if dropout_sites == "paper":
            drop_only_outputs(self.body)
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(LONGEST).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        table = torch.zeros(LONGEST, d_model)
        table[:, 0::2], table[:, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
        self.register_buffer("table", table)

    def embed(self, ids):
        return self.dropout(self.embedding(ids) * math.sqrt(self.d_model) + self.table[: ids.shape[1]])

    def forward(self, source, target):
        length = target.shape[1]
        causal = torch.triu(torch.full((length, length), float("-inf")), 1)
        padding = torch.zeros(source.shape).masked_fill(source == PAD, float("-inf"))
        hidden = self.body(
            self.embed(source),
            self.embed(target),
            tgt_mask=causal,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return hidden @ self.embedding.weight.t()


def drop_only_outputs(body):
    """`nn.Transformer` also drops attention weights and the feed-forward network's hidden layer; the paper does not."""
    for module in body.modules():
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = 0.0
        elif isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
            module.dropout.p = 0.0


class Worker:
    def rehearse(self):
        """One small step in each precision: the code that PyTorch loads when it is first called, a good 200 MiB, does
        not count as memory of the model."""
        sizes = {"vocabulary": 64, "d_model": 64, "heads": 2, "layers": 1, "d_ff": 64}
        for precision in ("f32", "bf16"):
            self.load(sizes, precision, torch.get_num_threads(), "module")
            self.step([([3] * 32, [3] * 32), ([3], [3])])
        del self.model, self.optimizer
        return {}

    def load(self, sizes, precision, threads, dropout_sites):
        torch.manual_seed(0)
        torch.set_num_threads(threads)
        self.is_bf16 = {"f32": False, "bf16": True}[precision]
        self.model = Seq2Seq(**sizes, dropout=0.1, dropout_sites=dropout_sites)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=PAD)
        return {"threads": torch.get_num_threads()}

    def step(self, pairs):
        source = padded([source + [EOS] for source, _ in pairs])
        target = padded([[BOS] + target for _, target in pairs])
        labels = padded([target + [EOS] for _, target in pairs])
        start = time.perf_counter()
        self.optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.is_bf16):
            logits = self.model(source, target)
            loss = self.loss(logits.flatten(0, 1).float(), labels.flatten())
        loss.backward()
        self.optimizer.step()
        return {"seconds": time.perf_counter() - start, "loss": loss.item()}


def padded(sentences):
    rows = [torch.tensor(sentence) for sentence in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


if __name__ == "__main__":
    worker = Worker()
    serve(ready=worker.rehearse, load=worker.load, step=worker.step)
