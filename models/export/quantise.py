"""Weights in int8 with which no processor's product saturates.

Processors without VNNI multiply unsigned activations by signed weights in pairs
of neighbours, and add each pair in 16 bits, which saturate: 255·127·2 is 64,770.
The usual way out is weights of 7 bits. But a sum stays below 32,768 as soon as
the positive weights of every pair come to 128 at most, and the negative ones to
-128 (255·128 is 32,640). Giving each word the smallest scale that achieves this
leaves the largest weight of a word about 100 of 127 steps, where 7 bits have 63:
the numbers are the same everywhere and nearly those of 8 bits.
"""

import numpy as np

HIGHEST = 127  # the largest magnitude of a weight or an activation, in steps
PAIR = 128  # the largest magnitude of the weights of one sign in a pair
WIDEN = 1.002  # how much more a scale grows where rounding breaks a limit


def _overshoot(weights: np.ndarray) -> np.ndarray:
    """Per row the factor by which it is too large: at most 1 is within limits."""
    pairs = weights.reshape(len(weights), -1, 2)
    positive, negative = np.maximum(pairs, 0).sum(axis=2), np.maximum(-pairs, 0).sum(axis=2)
    largest_sum = np.maximum(positive, negative).max(axis=1)
    return np.maximum(largest_sum / PAIR, np.abs(weights).max(axis=1) / HIGHEST)


def quantised(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of weights, of even length, as int8 levels of their shape and
    float32 scales, one a row: weights are about levels·scales."""
    exact = weights.astype(np.float64)
    scales = _overshoot(exact)
    scales[scales == 0] = 1
    while True:
        levels = np.rint(exact / scales[:, None])
        broken = _overshoot(levels) > 1
        if not broken.any():
            return levels.astype(np.int8), scales.astype(np.float32)
        scales[broken] *= WIDEN
