"""Turns a safetensors SPLADE into ONNX and proves that the two agree.

    python export.py CHECKPOINT OUTPUT.onnx [--float32]

CHECKPOINT is a folder with config.json, model.safetensors and tokenizer.json of
a BertForMaskedLM of any size. The product with the vocabulary is in int8, or in
float32 with --float32. OUTPUT.onnx appears only after the comparison has passed.
See README.md beside this file.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from bert import CheckpointError, Config, Weights
from graph import splade
from reference import Reference
from saved import save

FLOAT_TOLERANCE = 1e-4  # of any weight
INT8_TOLERANCE = 0.2  # of any weight: rounding is seen to move one by 0.12
INT8_COSINE = 0.999  # at least, of a text's weights
TEXTS = ("a big fat potato", "how to reset a lost password", "rain", "")


def sample_texts(checkpoint: Path, config: Config) -> list[list[int]]:
    """Token ids of a few texts, special tokens included: sentences of words
    in the vocabulary, the empty text, and random ids up to the longest text there can be."""
    vocabulary = json.loads((checkpoint / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    if not {"[CLS]", "[SEP]"} <= vocabulary.keys():
        raise CheckpointError(f"{checkpoint / 'tokenizer.json'}: no [CLS] and [SEP] in the vocabulary")
    start, end = vocabulary["[CLS]"], vocabulary["[SEP]"]
    texts = [[vocabulary[word] for word in text.split() if word in vocabulary] for text in TEXTS]
    random = np.random.default_rng(20)
    for length in (1, 30, config.positions - 2):
        texts.append(random.integers(0, config.vocabulary, length).tolist())
    return [[start, *ids, end] for ids in texts]


def padded(texts: list[list[int]], pad: int) -> dict[str, np.ndarray]:
    """One batch of texts as the graph's inputs. The padding holds tokens that
    would change the result if the graph looked at them."""
    shape = (len(texts), max(map(len, texts)))
    ids, mask = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}


def compare(model: ModelProto, want: np.ndarray, texts: list[list[int]]) -> tuple[float, float]:
    """The largest difference in any weight and the smallest cosine of a text's,
    each text alone and all in one padded batch."""
    runtime = ReferenceEvaluator(model)
    word = texts[0][1]
    alone = np.concatenate([runtime.run(None, padded([text], word))[0] for text in texts])
    together = runtime.run(None, padded(texts, word))[0]
    difference, cosine = 0.0, 1.0
    for got in (alone, together):
        difference = np.maximum(difference, np.abs(got - want).max())  # keeps NaN
        lengths = np.linalg.norm(got, axis=1) * np.linalg.norm(want, axis=1)
        cosine = np.minimum(cosine, ((got * want).sum(axis=1) / lengths).min())
    return float(difference), float(cosine)


def check(what: str, model: ModelProto, want: np.ndarray, texts: list[list[int]], allowed: float, least: float) -> str:
    difference, cosine = compare(model, want, texts)
    verdict = f"{what}: largest difference {difference:.1e}, allowed {allowed:.0e}; smallest cosine {cosine:.6f}, wanted {least}"
    if not (difference <= allowed and cosine >= least):  # NaN fails too
        raise CheckpointError(f"the graph and the plain forward pass disagree: {verdict}")
    return verdict


def export(checkpoint: Path, output: Path, int8: bool) -> None:
    """The graph in float32 is compared in either case: it is the encoder's proof,
    to which rounding in int8 would be blind. The int8 one is compared without the
    longest text, for which numpy's product of integers takes half a minute."""
    config = Config.read(checkpoint / "config.json")
    weights = Weights(checkpoint / "model.safetensors")
    texts = sample_texts(checkpoint, config)
    reference = Reference(config, weights)
    want = np.stack([reference.weights(text) for text in texts])
    model = splade(config, weights, int8=False)
    verdicts = [check("float32", model, want, texts, FLOAT_TOLERANCE, 1 - FLOAT_TOLERANCE)]
    if int8:
        model = splade(config, weights, int8=True)
        verdicts.append(check("int8", model, want[:-1], texts[:-1], INT8_TOLERANCE, INT8_COSINE))
    save(model, output)
    print(f"exported {output.name}: {len(texts)} texts, alone and padded; " + "; ".join(verdicts))


def main() -> int:
    parser = argparse.ArgumentParser(description="Export a safetensors SPLADE to ONNX.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--float32", action="store_true", help="the product with the vocabulary in float32, not int8")
    arguments = parser.parse_args()
    try:
        export(arguments.checkpoint, arguments.output, not arguments.float32)
    except (CheckpointError, OSError) as problem:
        print(f"export: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
