"""Turns a safetensors SPLADE into ONNX and proves that the two agree.

    python export.py CHECKPOINT OUTPUT.onnx

CHECKPOINT is a folder with config.json, model.safetensors and tokenizer.json of
a BertForMaskedLM of any size. OUTPUT.onnx appears only after the comparison has
passed. See README.md beside this file.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from bert import CheckpointError, Config, Weights
from graph import splade
from reference import Reference

TOLERANCE = 1e-4
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


def largest_difference(model: ModelProto, reference: Reference, texts: list[list[int]]) -> float:
    """The largest difference in any weight, each text alone and all in one
    padded batch."""
    runtime = ReferenceEvaluator(model)
    word = texts[0][1]
    want = np.stack([reference.weights(text) for text in texts])
    alone = np.concatenate([runtime.run(None, padded([text], word))[0] for text in texts])
    together = runtime.run(None, padded(texts, word))[0]
    return float(max(np.abs(alone - want).max(), np.abs(together - want).max()))


def export(checkpoint: Path, output: Path) -> None:
    config = Config.read(checkpoint / "config.json")
    weights = Weights(checkpoint / "model.safetensors")
    model = splade(config, weights)
    texts = sample_texts(checkpoint, config)
    difference = largest_difference(model, Reference(config, weights), texts)
    verdict = f"{len(texts)} texts, alone and padded: largest difference {difference:.1e}, allowed {TOLERANCE:.0e}"
    if not difference <= TOLERANCE:  # NaN fails too
        raise CheckpointError(f"the graph and the plain forward pass disagree: {verdict}")
    half = output.with_name(output.name + ".part")
    half.write_bytes(model.SerializeToString(deterministic=True))
    os.replace(half, output)
    print(f"exported {output.name}: {verdict}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Export a safetensors SPLADE to ONNX.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    try:
        export(arguments.checkpoint, arguments.output)
    except (CheckpointError, OSError) as problem:
        print(f"export: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
