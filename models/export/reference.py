"""A plain forward pass in float64, one text at a time: what the graph must equal.

It shares no code with the graph, takes the maximum last (after bias, ReLU and
log, where the formula has it), and knows no padding, so that agreement proves
the shortcuts the graph takes.
"""

import math

import numpy as np

from bert import Config, Weights

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1 + _erf(x / math.sqrt(2)))


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Reference:
    def __init__(self, config: Config, weights: Weights):
        self._config = config
        self._weights = weights

    def _tensor(self, name: str, *shape: int) -> np.ndarray:
        return self._weights.get(name, *shape).astype(np.float64)

    def _linear(self, x: np.ndarray, name: str, outputs: int) -> np.ndarray:
        return x @ self._tensor(f"{name}.weight", outputs, x.shape[-1]).T + self._tensor(f"{name}.bias", outputs)

    def _layer_norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._config.epsilon)
        size = x.shape[-1]
        return centred / deviation * self._tensor(f"{name}.weight", size) + self._tensor(f"{name}.bias", size)

    def _layer(self, x: np.ndarray, name: str) -> np.ndarray:
        c = self._config
        width = c.hidden // c.heads
        query, key, value = (self._linear(x, f"{name}.attention.self.{part}", c.hidden) for part in ("query", "key", "value"))
        mixed = np.empty_like(x)
        for head in range(c.heads):
            own = slice(head * width, (head + 1) * width)
            mixed[:, own] = _softmax(query[:, own] @ key[:, own].T / math.sqrt(width)) @ value[:, own]
        x = self._layer_norm(x + self._linear(mixed, f"{name}.attention.output.dense", c.hidden), f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._linear(x, f"{name}.intermediate.dense", c.intermediate))
        return self._layer_norm(x + self._linear(inner, f"{name}.output.dense", c.hidden), f"{name}.output.LayerNorm")

    def weights(self, ids: list[int]) -> np.ndarray:
        """The weights [vocabulary] of one text, given with its special tokens."""
        c = self._config
        words = self._tensor("bert.embeddings.word_embeddings.weight", c.vocabulary, c.hidden)
        positions = self._tensor("bert.embeddings.position_embeddings.weight", c.positions, c.hidden)
        types = self._tensor("bert.embeddings.token_type_embeddings.weight", c.types, c.hidden)
        x = self._layer_norm(words[ids] + positions[: len(ids)] + types[0], "bert.embeddings.LayerNorm")
        for i in range(c.layers):
            x = self._layer(x, f"bert.encoder.layer.{i}")
        x = _gelu(self._linear(x, "cls.predictions.transform.dense", c.hidden))
        x = self._layer_norm(x, "cls.predictions.transform.LayerNorm")
        logits = x @ words.T + self._tensor("cls.predictions.bias", c.vocabulary)
        return np.log1p(np.maximum(logits, 0)).max(axis=0)
