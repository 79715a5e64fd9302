"""Cuts a graph's last layer down to the first token and proves that the answer is the same.

    python cut.py GRAPH.onnx OUTPUT.onnx [--fix-shapes]

GRAPH.onnx is a BERT whose answer is read from the first token: hidden states
[batch, sequence, hidden] to be pooled by the first token's, or [batch, n] made of that by
the graph. OUTPUT.onnx appears only after the comparison has passed. See README.md
beside this file.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from bert import CheckpointError
from first import first_token
from saved import save
from shapes import fixed_shapes

TOLERANCE = 1e-4  # of any value, rounding left out: hidden states and logits are of the order of 1
WORDS = 1000  # token ids are below: every vocabulary has as many
LENGTHS = (1, 2, 3, 17, 60)  # of the texts compared, in tokens


class DynamicQuantizeLinear(OpRun):
    """Rounds nothing. Two graphs that scale apart what they round can be compared
    to the last digits only where neither rounds."""

    def _run(self, x):
        return x, np.float32(1), np.float32(0)


class MatMulInteger(OpRun):
    """Takes what was not rounded."""

    def _run(self, a, b, a_zero_point=None, b_zero_point=None):
        levels = b.astype(np.float32) - np.float32(0 if b_zero_point is None else b_zero_point)
        return ((a - np.float32(0 if a_zero_point is None else a_zero_point)) @ levels,)


class DequantizeLinear(OpRun):
    """Is missing from the evaluator for older opsets. One scale a tensor."""

    def _run(self, x, scale, zero_point=None, **_):
        if np.size(scale) != 1:
            raise NotImplementedError("DequantizeLinear with several scales")
        return ((x.astype(np.float32) - np.float32(0 if zero_point is None else zero_point)) * scale,)


UNROUNDED = [DynamicQuantizeLinear, MatMulInteger, DequantizeLinear]


def batches(inputs: list[str]) -> list[dict[str, np.ndarray]]:
    """Random texts, each alone and all in one padded batch, as the graph's inputs.
    The second half of a text is of type 1."""
    random = np.random.default_rng(20)
    texts = [random.integers(1, WORDS, length) for length in LENGTHS]
    made = []
    for group in (*([text] for text in texts), texts):
        shape = (len(group), max(map(len, group)))
        values = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
        for row, text in enumerate(group):
            values["input_ids"][row, : len(text)] = text
            values["attention_mask"][row, : len(text)] = 1
            values["token_type_ids"][row, len(text) // 2 : len(text)] = 1
        try:
            made.append({name: values[name] for name in inputs})
        except KeyError as unknown:
            raise CheckpointError(f"the graph has an unknown input {unknown}") from None
    return made


def compare(model: ModelProto, cut: ModelProto) -> float:
    """The largest difference in any value of the answer, with activations not rounded."""
    before, after = (ReferenceEvaluator(m, new_ops=UNROUNDED) for m in (model, cut))
    difference = 0.0
    for feed in batches(before.input_names):
        try:
            want, got = before.run(None, feed)[0], after.run(None, feed)[0]
        except (ValueError, IndexError, NotImplementedError) as problem:
            raise CheckpointError(f"the graph cannot be run on {feed['input_ids'].shape} tokens, whole or cut: {problem}") from None
        want = want[:, :1] if want.ndim == 3 else want
        if got.shape != want.shape:
            raise CheckpointError(f"the cut graph gives {got.shape} values where {want.shape} are wanted")
        difference = np.maximum(difference, np.abs(got - want).max())  # keeps NaN
    return float(difference)


def main() -> int:
    parser = argparse.ArgumentParser(description="Cut a graph's last layer down to the first token.")
    parser.add_argument("graph", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--fix-shapes", action="store_true", help="also write known shapes into the graph, where ONNX Runtime does not by itself")
    arguments = parser.parse_args()
    try:
        model = onnx.load(arguments.graph)
        cut = first_token(model)
        if arguments.fix_shapes:
            cut = fixed_shapes(cut)
        difference = compare(model, cut)
        if not difference <= TOLERANCE:  # NaN fails too
            raise CheckpointError(f"the answer is another, by up to {difference:.1e}: is it not read from the first token alone?")
    except (CheckpointError, OSError, onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as problem:
        print(f"cut: {arguments.graph}: {problem}", file=sys.stderr)
        return 1
    save(cut, arguments.output)
    print(f"cut {arguments.graph.name}: {len(LENGTHS)} texts, alone and padded; largest difference {difference:.1e}, allowed {TOLERANCE:.0e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
