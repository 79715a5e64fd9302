"""Bare onnxruntime and tokenizers over qdrant-edge: see stack.py.

Models run one text at a time on one thread, as many callers side by side as
there are cores: the fastest of the ways in onnxruntime_peer.py. The vectors of
a query are made at the same time. "prepare" also makes FOLDER/vectors.npz, which
the other stacks read.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import stack

MAX_TOKENS = 512


class Model:
    """One graph. threads is 0 for the runtime's own choice."""

    def __init__(self, folder, threads=1):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.inputs = [i.name for i in self.session.get_inputs()]

    def run(self, text, pair=None):
        e = self.tokenizer.encode(text, pair)
        values = {"input_ids": e.ids, "attention_mask": e.attention_mask, "token_type_ids": e.type_ids}
        return self.session.run(None, {name: np.array([values[name]], np.int64) for name in self.inputs})[0]


class Dense(Model):
    def encode(self, text):
        first = self.run(text)[0, 0]  # the vector of [CLS], as the model was trained
        return first / np.linalg.norm(first)


class Sparse(Model):
    def encode(self, text):
        weights = self.run(text)[0]
        indices = np.flatnonzero(weights > 0)
        return indices.astype(np.uint32), weights[indices]


class Pair(Model):
    def score(self, query, text):
        return float(self.run(query, text)[0, 0])


class Models:
    def __init__(self, folder):
        folder = Path(folder)
        self.dense = Dense(folder / "bge-small-en-v1.5")
        self.sparse = Sparse(folder / "splade-tiny")
        self.pair = Pair(folder / "ms-marco-minilm-l12-v2")
        self.cores = ThreadPoolExecutor(os.cpu_count())

    def vectors(self, query):
        dense = self.cores.submit(self.dense.encode, stack.PREFIX + query)
        sparse = self.cores.submit(self.sparse.encode, query)
        return dense.result(), sparse.result()

    def score(self, query, texts):
        return list(self.cores.map(lambda text: self.pair.score(query, text), texts))

    def encode(self, texts):
        """Both vectors of each text. The longest first, so that no core ends long before the others."""
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        made = self.cores.map(lambda i: (self.dense.encode(texts[i]), self.sparse.encode(texts[i])), order)
        rows = dict(zip(order, made))
        return [rows[i][0] for i in range(len(texts))], [rows[i][1] for i in range(len(texts))]


def prepare(models, folder):
    target = Path(folder) / "vectors.npz"
    if not target.exists():
        dense, sparse = Models(models).encode([d["text"] for d in stack.documents(folder)])
        np.savez(
            target, dense=np.stack(dense), n=np.array([len(i) for i, _ in sparse]),
            idx=np.concatenate([i for i, _ in sparse]), val=np.concatenate([v for _, v in sparse]),
        )
    if not (Path(folder) / "qdrant" / "shard").exists():
        stack.fill(stack.Shard(Path(folder) / "qdrant"), folder)


def serve(models, folder, port):
    made, shard = Models(models), stack.Shard(Path(folder) / "qdrant")

    def add(documents):
        shard.add(documents, *made.encode([d["text"] for d in documents]))

    stack.serve(port, stack.hybrid(shard, made.vectors, made.score), add)


if __name__ == "__main__":
    stack.main(prepare, serve)
