"""Writes the golden scores of tests/bleu.rs with sacreBLEU.

    pip install sacrebleu==2.6.0 regex==2026.11.19
    ABLATE_SHARED=<folder with data/bleu/wmt17-en-de> python tests/golden/bleu/make.py

Without ABLATE_SHARED, wmt17.tsv is left as it is.
"""

import json
import os
import platform
import re
from pathlib import Path

import regex
import sacrebleu
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

HERE = Path(__file__).parent
COMPOUND_SPLIT = "13a+compound-split"
TOKENIZERS = ["13a", "none", "intl", "char", COMPOUND_SPLIT]
SMOOTHINGS = [("exp", None), ("floor", 0.1), ("floor", 0.5), ("add-k", 1), ("add-k", 0.5), ("none", None)]
COLUMNS = "corpus tok case smooth value score precisions counts totals bp hyp_len ref_len signature line".split()


def split_compounds(line, lowercase):
    """sacreBLEU has no such tokenizer: 13a, then the published substitution on bytes, as perl runs it."""
    line = (line.lower() if lowercase else line).rstrip()
    split = re.sub(rb"(\S)-(\S)", rb"\1 ##AT##-##AT## \2", Tokenizer13a()(line).encode())
    return split.decode()


def statistics(hypotheses, references, tok, lowercase):
    if tok == COMPOUND_SPLIT:
        hypotheses = [split_compounds(line, lowercase) for line in hypotheses]
        references = [[split_compounds(line, lowercase) for line in stream] for stream in references]
        tok = "none"
    metric = BLEU(lowercase=lowercase, tokenize=tok, force=True)
    return metric._extract_corpus_statistics(hypotheses, references)


def score_row(corpus, hypotheses, references, tok, lowercase, smooth, value):
    counted = [sum(column) for column in zip(*statistics(hypotheses, references, tok, lowercase))]
    metric = BLEU(lowercase=lowercase, tokenize="none" if tok == COMPOUND_SPLIT else tok,
                  smooth_method=smooth, smooth_value=value)
    metric.num_refs = len(references)
    bleu = metric._compute_score_from_stats(list(counted))
    if tok != COMPOUND_SPLIT:
        public = metric.corpus_score(hypotheses, references)
        assert (public.score, str(public)) == (bleu.score, str(bleu))
    signature = str(metric.get_signature())
    if tok == COMPOUND_SPLIT:
        signature = signature.replace("tok:none", f"tok:{tok}")
    return [corpus, tok, "lc" if lowercase else "mixed", smooth, "" if value is None else value, repr(bleu.score),
            ",".join(map(repr, bleu.precisions)), ",".join(map(str, counted[2:6])), ",".join(map(str, counted[6:])),
            repr(bleu.bp), counted[0], counted[1], signature, str(bleu)]


def write(name, columns, rows):
    made_by = (f"# sacreBLEU {sacrebleu.__version__}, regex {regex.__version__}, "
               f"Python {platform.python_version()}: python tests/golden/bleu/make.py")
    lines = [made_by, "\t".join(columns)] + ["\t".join(map(str, row)) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def own_rows(corpora):
    for corpus, sentences in corpora.items():
        hypotheses, *references = map(list, zip(*sentences))
        everything = corpus == "mixed"
        for count in (1, 2):
            for tok in TOKENIZERS if everything else ["13a"]:
                for lowercase in (False, True) if everything else (False,):
                    for smooth, value in SMOOTHINGS:
                        yield score_row(corpus, hypotheses, references[:count], tok, lowercase, smooth, value)


def sentence_rows(sentences):
    hypotheses, *references = map(list, zip(*sentences))
    for tok in TOKENIZERS:
        for lowercase in (False, True):
            for at, row in enumerate(statistics(hypotheses, references, tok, lowercase)):
                yield [tok, "lc" if lowercase else "mixed", at, row[0], row[1],
                       ",".join(map(str, row[2:6])), ",".join(map(str, row[6:]))]


def read_lines(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.rstrip() for line in file]


def wmt17_rows(folder):
    reference = read_lines(folder / "ref.de")
    for path in sorted(folder.glob("*.hyp.de")):
        hypotheses = read_lines(path)
        for tok in TOKENIZERS:
            smooth = "none" if tok == COMPOUND_SPLIT else "exp"
            for lowercase in (False, True) if tok in ("13a", "intl") else (False,):
                yield score_row(path.name.removesuffix(".hyp.de"), hypotheses, [reference],
                                tok, lowercase, smooth, None)


if __name__ == "__main__":
    corpora = json.loads((HERE / "sentences.json").read_text(encoding="utf-8"))
    write("scores.tsv", COLUMNS, own_rows(corpora))
    write("sentences.tsv", "tok case line hyp_len ref_len counts totals".split(), sentence_rows(corpora["mixed"]))
    if shared := os.environ.get("ABLATE_SHARED"):
        write("wmt17.tsv", COLUMNS, wmt17_rows(Path(shared) / "data/bleu/wmt17-en-de"))
