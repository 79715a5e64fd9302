"""Bare onnxruntime and tokenizers: onnxruntime_peer.py KIND MODEL_DIR STRATEGY.

KIND is dense or pair, MODEL_DIR holds model.onnx and tokenizer.json. STRATEGY:

  padded-32     batches of 32 in the order given, padded to the longest; the
                runtime's default threads (all cores, spinning)
  sorted-8      batches of 8 of similar length, padded; default threads
  one-by-one    one text a run; default threads
  two-callers   one text a run on one thread, two callers side by side
  two-callers-apart
                the same without the fusion of layer norms that braid leaves out: the
                very computation that braid does
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from protocol import serve
from tokenizers import Tokenizer

MAX_TOKENS = 512


class Model:
    def __init__(self, kind, folder, strategy):
        self.kind, self.strategy = kind, strategy.removesuffix("-apart")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        if self.strategy == "two-callers":
            options.intra_op_num_threads = 1
        if strategy.endswith("-apart"):
            options.add_session_config_entry("optimization.disable_specified_optimizers", "SkipLayerNormFusion")
        self.session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self.inputs = [i.name for i in self.session.get_inputs()]
        self.callers = ThreadPoolExecutor(2)

    def encode(self, texts):
        return self.run_all(self.tokenizer.encode_batch(texts))

    def score(self, query, texts):
        return self.run_all(self.tokenizer.encode_batch([(query, t) for t in texts]))

    def run_all(self, encodings):
        order = list(range(len(encodings)))
        if self.strategy == "sorted-8":
            order.sort(key=lambda i: len(encodings[i].ids))
        size = {"padded-32": 32, "sorted-8": 8}.get(self.strategy, 1)
        batches = [order[i : i + size] for i in range(0, len(order), size)]
        work = self.callers.map if self.strategy == "two-callers" else map
        rows = [None] * len(encodings)
        for batch, output in zip(batches, work(lambda b: self.run([encodings[i] for i in b]), batches)):
            for i, row in zip(batch, output):
                rows[i] = row
        return rows

    def run(self, batch):
        shape = (len(batch), max(len(e.ids) for e in batch))
        feeds = {name: np.zeros(shape, np.int64) for name in self.inputs}
        for i, e in enumerate(batch):
            for name, values in (("input_ids", e.ids), ("attention_mask", e.attention_mask), ("token_type_ids", e.type_ids)):
                if name in feeds:
                    feeds[name][i, : len(values)] = values
        output = self.session.run(None, feeds)[0]
        if self.kind == "pair":
            return output
        first = output[:, 0]  # the vector of [CLS], as the model was trained
        return first / np.linalg.norm(first, axis=1, keepdims=True)


def main(kind, folder, strategy):
    model = Model(kind, Path(folder), strategy)
    serve(encode=model.encode, score=model.score)


if __name__ == "__main__":
    main(*sys.argv[1:])
