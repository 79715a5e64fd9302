"""Writes a graph's file."""

import os
from pathlib import Path

from onnx import ModelProto


def save(model: ModelProto, path: Path) -> None:
    """Writes model to path: equal models give equal bytes, and path is as it was
    until all is written."""
    half = path.with_name(path.name + ".part")
    half.write_bytes(model.SerializeToString(deterministic=True))
    os.replace(half, path)
