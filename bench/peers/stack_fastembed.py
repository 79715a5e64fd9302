"""FastEmbed over qdrant-edge, which is how Qdrant is used from Python: see stack.py.

The library is called with its own defaults. Its SPLADE wants another form of
graph, so that one runs in bare onnxruntime with the runtime's default threads.
"""

import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.rerank.cross_encoder import TextCrossEncoder

import stack
from layout import lay_out
from stack_onnxruntime import Sparse

NAME = "bench/local"
SOURCE = ModelSource(hf=NAME)  # never asked: the files are local


def load(models, scratch):
    models = Path(models)
    TextEmbedding.add_custom_model(NAME, pooling=PoolingType.CLS, normalization=True, sources=SOURCE, dim=384, model_file="model.onnx")
    TextCrossEncoder.add_custom_model(NAME, sources=SOURCE, model_file="model.onnx")
    dense = TextEmbedding(NAME, specific_model_path=str(lay_out("dense", models / "bge-small-en-v1.5", scratch / "dense")))
    pair = TextCrossEncoder(NAME, specific_model_path=str(lay_out("pair", models / "ms-marco-minilm-l12-v2", scratch / "pair")))
    return dense, Sparse(models / "splade-tiny", threads=0), pair


def shard_of(folder):
    """A shard of its own: one cannot be open twice, and both stacks may be."""
    return Path(folder) / "qdrant-fastembed"


def prepare(models, folder):
    if not (shard_of(folder) / "shard").exists():
        stack.fill(stack.Shard(shard_of(folder)), folder)


def serve(models, folder, port):
    dense, sparse, pair = load(models, Path(folder) / "fastembed")
    shard = stack.Shard(shard_of(folder))

    def vectors(query):
        return next(iter(dense.embed([stack.PREFIX + query]))), sparse.encode(query)

    def score(query, texts):
        return list(pair.rerank(query, texts))

    def add(documents):
        texts = [d["text"] for d in documents]
        shard.add(documents, np.stack(list(dense.embed(texts))), [sparse.encode(t) for t in texts])

    stack.serve(port, stack.hybrid(shard, vectors, score), add)


if __name__ == "__main__":
    stack.main(prepare, serve)
