"""Both vectors of a query with bare onnxruntime, one after the other:
generation_peer.py DENSE_DIR SPARSE_DIR PLAN QUERY_PREFIX.

The plans are the ways to use the cores for one query at a time. N and M are the
threads of a dense and of a sparse run:

  N/M        threads spin between runs, as by default
  N/M-stop   they stop spinning when their run is over, out of the way of the
             other model's
"""

import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
from protocol import serve_ways
from tokenizers import Tokenizer

MAX_TOKENS = 512


class Model:
    def __init__(self, folder, threads, stop):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        if stop:
            options.add_session_config_entry("session.force_spinning_stop", "1")
        self.session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self.inputs = [i.name for i in self.session.get_inputs()]

    def run(self, text):
        e = self.tokenizer.encode(text)
        values = {"input_ids": e.ids, "attention_mask": e.attention_mask, "token_type_ids": e.type_ids}
        feeds = {name: np.array([values[name]], np.int64) for name in self.inputs}
        return self.session.run(None, feeds)[0]


def main(dense_folder, sparse_folder, plan, prefix):
    threads, _, stop = plan.partition("-")
    of_dense, of_sparse = (int(n) for n in threads.split("/"))
    dense = Model(Path(dense_folder), of_dense, stop == "stop")
    sparse = Model(Path(sparse_folder), of_sparse, stop == "stop")

    def one(text):
        begun = time.perf_counter()
        first = dense.run(prefix + text)[0, 0]  # the vector of [CLS], as the model was trained
        vector = first / np.linalg.norm(first)
        between = time.perf_counter()
        weights = sparse.run(text)[0]
        positions = np.nonzero(weights)[-1]  # what an index is asked for
        weights[..., positions]
        ended = time.perf_counter()
        return vector, {"dense alone": between - begun, "sparse alone": ended - between, "dense, then sparse": ended - begun}

    serve_ways(one)


if __name__ == "__main__":
    main(*sys.argv[1:])
