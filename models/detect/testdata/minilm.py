"""Makes minilm_golden.json: mean-pooled embeddings of all-MiniLM-L6-v2 in Python.

Run it in the environment of families.py, after scripts/minilm.
"""

import base64
import json
import pathlib

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
MODEL = HERE.parent.parent.parent / ".local" / "minilm"
TEXTS = [
    "a big fat potato",
    "How do I reset the pump?",
    "",
    "Café déjà vu, naïve Ångström façade",
    "東京都は日本の首都です",
    "ERR-104: valve AR-7, v2.1, CVE-2021-44228",
    "the harbour crane was moved to quay seven before dawn because of a storm warning " * 4,
    "the harbour crane was moved to quay seven before dawn because of a storm warning " * 50,
]


def main():
    tokenizer = Tokenizer.from_file(str(MODEL / "all-minilm-l6-v2-tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(MODEL / "all-minilm-l6-v2.onnx", options, providers=["CPUExecutionProvider"])
    lines = []
    for text in TEXTS:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        hidden = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})[0][0]
        vector = hidden.mean(0)
        vector /= np.linalg.norm(vector)
        lines.append(json.dumps({"text": text, "tokens": ids.size, "values": base64.b64encode(vector.astype("<f4").tobytes()).decode()}, ensure_ascii=False))
    (HERE / "minilm_golden.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
