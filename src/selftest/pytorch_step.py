"""PyTorch's update of the same model on the same sentences: `nn.Transformer`, fused Adam, bf16 autocast, compiled.

Reads the work as JSON on standard input: device, sizes, sentences. Prints a line for each way of running it. Sentences
stand in batches of like length, as PyTorch's users make them, so that little is padded; one update goes over all.
"""

import json
import math
import sys
import time

import torch
from torch import nn

PAD, BOS, EOS = 0, 1, 2  # 0 is the unknown piece elsewhere; the sentences hold none
LONGEST = 512
WARM_UP, UPDATES = 3, 10
ROUND_TO = 8  # lengths are padded to a multiple, so that few shapes are compiled


class Seq2Seq(nn.Module):
    def __init__(self, vocabulary, d_model, heads, layers, d_ff, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocabulary, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.body = nn.Transformer(d_model, heads, layers, layers, d_ff, dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(LONGEST).unsqueeze(1) * torch.exp(torch.arange(0, d_model, 2) * (-math.log(1e4) / d_model))
        self.register_buffer("table", torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1))

    def embed(self, ids):
        return self.dropout(self.embedding(ids) * math.sqrt(self.d_model) + self.table[: ids.shape[1]])

    def forward(self, source, target):
        length = target.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)
        padding = source == PAD
        hidden = self.body(
            self.embed(source),
            self.embed(target),
            tgt_mask=causal,
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return hidden @ self.embedding.weight.t()


def padded(sentences, device):
    length = -(-max(map(len, sentences)) // ROUND_TO) * ROUND_TO
    rows = [sentence + [PAD] * (length - len(sentence)) for sentence in sentences]
    return torch.tensor(rows, device=device)


def batches(sentences, device, parts):
    """All sentences by length, in `parts` batches."""
    ordered = sorted(sentences, key=lambda pair: (len(pair[1]), len(pair[0])))
    size = -(-len(ordered) // parts)
    for first in range(0, len(ordered), size):
        pairs = ordered[first : first + size]
        yield (
            padded([source + [EOS] for source, _ in pairs], device),
            padded([[BOS] + target for _, target in pairs], device),
            padded([target + [EOS] for _, target in pairs], device),
        )


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def measure(work, device, is_compiled):
    torch.manual_seed(0)
    model = Seq2Seq(**work["sizes"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=PAD, reduction="sum")
    forward = torch.compile(model, dynamic=True) if is_compiled else model
    parts = list(batches(work["sentences"], device, parts=4))
    tokens = sum(len(target) + 1 for _, target in work["sentences"])
    seconds = []
    for _ in range(WARM_UP + UPDATES):
        wait(device)
        start = time.perf_counter()
        optimizer.zero_grad()
        for source, target, labels in parts:
            with torch.autocast(device.type, dtype=torch.bfloat16):
                logits = forward(source, target)
                loss = criterion(logits.flatten(0, 1).float(), labels.flatten()) / tokens
            loss.backward()
        optimizer.step()
        wait(device)
        seconds.append(time.perf_counter() - start)
    median = sorted(seconds[WARM_UP:])[UPDATES // 2]
    name = "compiled" if is_compiled else "eager"
    print(f"bf16, {name}: {median * 1e3:.1f} ms an update of {tokens} tokens, {tokens / median:.0f} tokens/s", flush=True)


def main():
    work = json.load(sys.stdin)
    device = torch.device(work["device"])
    torch.set_float32_matmul_precision("high")
    measure(work, device, is_compiled=False)
    try:
        measure(work, device, is_compiled=True)
    except Exception as error:  # Without a C compiler, say; what was measured stands.
        print(f"bf16, compiled: {type(error).__name__}: {str(error).splitlines()[0]}")


main()
