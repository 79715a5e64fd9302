"""A BertForMaskedLM checkpoint: its settings and its weights, as numpy arrays."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file


class CheckpointError(Exception):
    """The checkpoint is not one that this exporter understands."""


@dataclass(frozen=True)
class Config:
    """The part of config.json that decides what is computed."""

    vocabulary: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int
    types: int
    epsilon: float

    @classmethod
    def read(cls, path: Path) -> "Config":
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise CheckpointError(f"{path} is not JSON: {error}") from None
        wanted = {
            "model_type": ("bert",),
            "hidden_act": ("gelu",),  # the exact one, with erf
            "position_embedding_type": ("absolute", None),
            "is_decoder": (False, None),
        }
        for key, allowed in wanted.items():
            if raw.get(key) not in allowed:
                raise CheckpointError(f"{path}: {key} is {raw.get(key)!r}, only {allowed[0]!r} is supported")
        try:
            config = cls(
                vocabulary=raw["vocab_size"],
                hidden=raw["hidden_size"],
                layers=raw["num_hidden_layers"],
                heads=raw["num_attention_heads"],
                intermediate=raw["intermediate_size"],
                positions=raw["max_position_embeddings"],
                types=raw["type_vocab_size"],
                epsilon=raw["layer_norm_eps"],
            )
        except KeyError as missing:
            raise CheckpointError(f"{path}: {missing} is missing") from None
        if config.hidden % config.heads:
            raise CheckpointError(f"{path}: hidden_size {config.hidden} is not a multiple of num_attention_heads {config.heads}")
        return config


class Weights:
    """The tensors of a checkpoint by their Hugging Face names.

    Every tensor is float32, has the shape its reader asks for, and LayerNorm
    parameters answer to weight and bias whichever way they are stored.
    """

    def __init__(self, path: Path):
        self._path = path
        self._tensors = {}
        try:
            stored = load_file(path)
        except SafetensorError as error:
            raise CheckpointError(f"{path} is not a whole safetensors file: {error}") from None
        for name, tensor in stored.items():
            name = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
            name = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", name)
            self._tensors[name] = tensor
        decoder = self._tensors.pop("cls.predictions.decoder.weight", None)
        embeddings = self._tensors.get("bert.embeddings.word_embeddings.weight")
        if decoder is not None and not np.array_equal(decoder, embeddings):
            raise CheckpointError(f"{path}: the decoder is not tied to the word embeddings, which is not supported")

    def get(self, name: str, *shape: int) -> np.ndarray:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise CheckpointError(f"{self._path}: tensor {name!r} is missing: is this a BertForMaskedLM?")
        if tensor.dtype != np.float32 or tensor.shape != shape:
            raise CheckpointError(f"{self._path}: tensor {name!r} is {tensor.dtype} {tensor.shape}, want float32 {shape}")
        if not np.isfinite(tensor).all():
            raise CheckpointError(f"{self._path}: tensor {name!r} holds a non-finite value")
        return tensor
