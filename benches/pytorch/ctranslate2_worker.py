"""CTranslate2's beam search, with weights exported from the other side."""

import tempfile
import time

import ctranslate2
import numpy as np
from ctranslate2.specs.transformer_spec import TransformerSpec
from line_server import serve
from safetensors.numpy import load_file

BEAM = 4
LENGTH_PENALTY = 0.6
BATCH_SENTENCES = 64
LONGEST = 512
SPECIAL_PIECES = ["<unk>", "<s>", "</s>"]
EOS = 2


def convert(weights, sizes, folder):
    """Writes the model as CTranslate2 reads it. Attention has no biases on either side."""
    spec = TransformerSpec.from_config((sizes["layers"], sizes["layers"]), sizes["heads"], pre_norm=False)
    positions = sinusoids(sizes["d_model"])
    for side, embeddings in ((spec.encoder, spec.encoder.embeddings[0]), (spec.decoder, spec.decoder.embeddings)):
        embeddings.weight = weights["embedding.weight"]
        embeddings.multiply_by_sqrt_depth = True
        side.position_encodings.encodings = positions
    spec.decoder.projection.weight = weights["embedding.weight"]

    def attention(layer, name, fused):
        for linear, parts in zip(layer.linear, (*fused, ["output"]), strict=True):
            linear.weight = np.concatenate([weights[f"{name}.{part}.weight"] for part in parts])
        norm(layer.layer_norm, f"{name}_norm")

    def feed_forward(layer, name):
        for linear, part in ((layer.linear_0, "inner"), (layer.linear_1, "outer")):
            linear.weight = weights[f"{name}.{part}.weight"]
            linear.bias = weights[f"{name}.{part}.bias"]
        norm(layer.layer_norm, f"{name}_norm")

    def norm(layer, name):
        layer.gamma, layer.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]

    for i, layer in enumerate(spec.encoder.layer):
        attention(layer.self_attention, f"encoder.{i}.attention", [["query", "key", "value"]])
        feed_forward(layer.ffn, f"encoder.{i}.feed_forward")
    for i, layer in enumerate(spec.decoder.layer):
        attention(layer.self_attention, f"decoder.{i}.self_attention", [["query", "key", "value"]])
        attention(layer.attention, f"decoder.{i}.cross_attention", [["query"], ["key", "value"]])
        feed_forward(layer.ffn, f"decoder.{i}.feed_forward")

    unk, bos, eos = SPECIAL_PIECES
    pieces = SPECIAL_PIECES + [str(piece) for piece in range(len(SPECIAL_PIECES), sizes["vocabulary"])]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = unk, bos, eos
    spec.config.decoder_start_token = bos
    spec.config.layer_norm_epsilon = 1e-5
    spec.validate()
    spec.save(folder)
    return pieces


def sinusoids(d_model):
    """Sines and cosines in turn, as in the paper; CTranslate2's own table has all sines first."""
    rates = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(LONGEST)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(LONGEST, d_model).astype(np.float32)


class Worker:
    def load(self, sizes, weights, threads):
        with tempfile.TemporaryDirectory() as folder:
            self.pieces = convert(load_file(weights), sizes, folder)
            self.translator = ctranslate2.Translator(
                folder, device="cpu", compute_type="float32", inter_threads=1, intra_threads=threads
            )
        self.ids = {piece: id for id, piece in enumerate(self.pieces)}
        return {"threads": threads}

    def translate(self, sources):
        closed = self.closed(sources)
        start = time.perf_counter()
        results = self.search(closed, 1)
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "best": [self.to_ids(result.hypotheses[0]) for result in results]}

    def translate_with_end(self, sources):
        """The best of each beam by the probability of its pieces and of the end after them. CTranslate2 stops at the
        longest length without asking for that end."""
        closed = self.closed(sources)
        beams = [result.hypotheses for result in self.search(closed, BEAM)]
        scored = self.translator.score_batch(
            [source for source in closed for _ in range(BEAM)],
            [hypothesis for beam in beams for hypothesis in beam],
            max_batch_size=BATCH_SENTENCES,
        )
        totals = np.array([sum(result.log_probs) for result in scored]).reshape(-1, BEAM)
        return {"best": [self.to_ids(beam[at]) for beam, at in zip(beams, totals.argmax(axis=1), strict=True)]}

    def search(self, closed, hypotheses):
        length = len(closed[0]) - 1
        return self.translator.translate_batch(
            closed,
            beam_size=BEAM,
            num_hypotheses=hypotheses,
            length_penalty=LENGTH_PENALTY,
            min_decoding_length=length,
            max_decoding_length=length,
            max_batch_size=BATCH_SENTENCES,
        )

    def closed(self, sources):
        return [[self.pieces[id] for id in source] + [self.pieces[EOS]] for source in sources]

    def to_ids(self, pieces):
        return [self.ids[piece] for piece in pieces]


if __name__ == "__main__":
    worker = Worker()
    serve(load=worker.load, translate=worker.translate, translate_with_end=worker.translate_with_end)
