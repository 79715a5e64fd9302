"""goldens.py MODELS FILE: what plain onnxruntime computes from the model files in
MODELS, one text a run, written to FILE as JSON for the suites to compare with."""

import json
import pathlib
import sys

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

DENSE, SPARSE, RERANKER = "bge-small-en-v1.5", "splade-tiny", "ms-marco-minilm-l12-v2"
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
MAX_TOKENS = 512

WORDS = "the harbour crane was moved to quay 7 before dawn because of a storm warning".split()

# Of very different lengths, so that a server that pads or mixes them up shows it.
TEXTS = [
    "wrench",
    " ".join(WORDS[i * i % len(WORDS)] for i in range(700)),  # is cut
    "a big fat potato",
    "Café déjà vu, naïve Ångström façade",
    "東京都は日本の首都です",
    "std::vector<int> v{1,2}; // ERR-104 \"quoted\" \\ back\tslash\n",
    " ".join(WORDS[i * 3 % len(WORDS)] for i in range(120)),
    "🚀 launch 👩‍👩‍👧",
    "The quick brown fox jumps over the lazy dog.",
    " ".join(WORDS[i % len(WORDS)] for i in range(40)),
]

QUERY = "what is the capital of france"
PASSAGES = [
    "France is a country in Europe.",
    "The capital of France is Paris.",
    "I had a turkey sandwich.",
    "Paris is the capital and most populous city of France.",
    "Berlin is the capital of Germany.",
    "Paris is the capital of France.",
]


class Model:
    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # As the server has it (inference/session.go): with this one the sums round
        # otherwise, and a value of an int8 model that is near a step takes another.
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"],
                                                    disabled_optimizers=["SkipLayerNormFusion"])

    def run(self, *texts):
        encoding = self.tokenizer.encode(*texts)
        feed = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
        return self.session.run(None, {name: np.array([row], np.int64) for name, row in feed.items()})[0][0]


def main():
    models = pathlib.Path(sys.argv[1])
    dense, sparse, reranker = (Model(models / name) for name in (DENSE, SPARSE, RERANKER))

    def vector(text):
        first = dense.run(text)[0]
        return (first / np.linalg.norm(first)).tolist()

    def tokens(text):
        dense.tokenizer.no_truncation()
        e = dense.tokenizer.encode(text)
        return [[i, None, None] if special else [i, *place] for i, place, special in zip(e.ids, e.offsets, e.special_tokens_mask)]

    def weights(text):
        values = sparse.run(text)
        return {int(i): float(values[i]) for i in np.nonzero(values > 0)[0]}

    golden = {
        "dense": DENSE, "sparse": SPARSE, "reranker": RERANKER,
        "query_prefix": QUERY_PREFIX,
        "texts": TEXTS,
        "passages": [vector(text) for text in TEXTS],
        "queries": [vector(QUERY_PREFIX + text) for text in TEXTS],
        "weights": [weights(text) for text in TEXTS],
        "query": QUERY, "documents": PASSAGES,
        "tokens": [tokens(text) for text in TEXTS],
        "logits": [float(reranker.run(QUERY, text)[0]) for text in PASSAGES],
    }
    pathlib.Path(sys.argv[2]).write_text(json.dumps(golden))


if __name__ == "__main__":
    main()
