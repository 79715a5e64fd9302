"""Makes golden.json: what the Python reference computes with the same files.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install -r requirements.txt
    /tmp/golden/bin/python golden.py FLOAT.onnx      # after `make setup`

FLOAT.onnx is the SPLADE with its head in float32, for the numbers that the int8
head has to come near: models/export/export.py --float32 makes it.

The reference is onnxruntime and tokenizers, one text a run, one thread. The
layer norms are apart from their sums, as braid runs them. The int8 products are
the exact ones (session.x64quantprecision): without it, CPUs
that lack VNNI saturate them: the first pair below has logit 9.632 on a CPU with
VNNI and 9.327 on one with AVX2 only. What is left between CPUs is the rounding of float32 kernels, which dynamic quantisation can amplify; so
the file records the instruction sets it was made with, and golden_test.go is
strict on a CPU that has the same ones and looser on others.
"""

import base64
import json
import pathlib
import sys

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent.parent / ".local" / "models"
MAX_TOKENS = 512
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
INSTRUCTION_SETS = ["avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8"]

WORDS = "the harbour crane was moved to quay 7 before dawn because of a storm warning".split()


def words(n):
    return " ".join(WORDS[i * i % len(WORDS)] for i in range(n))


# name, text, how often it is repeated
TEXTS = [
    ("plain", "a big fat potato", 1),
    ("sentence", "The quick brown fox jumps over the lazy dog.", 1),
    ("empty", "", 1),
    ("whitespace only", " \t\r\n ", 1),
    ("controls only", "\x01\x02\u200b", 1),
    ("accents", "Café déjà vu, naïve Ångström façade; e\u0301 o\u0308", 1),
    ("accents apart", "caf e \u0301 after a space", 1),
    ("case", "ΣΊΣΥΦΟΣ ΑΣ İstanbul STRASSE straße ǅ ﬁne", 1),
    ("Japanese", "東京都は日本の首都です", 1),
    ("Chinese and Latin", "GitHub备份脚本上传失败 v2.1", 1),
    ("Korean", "한국어 검색 품질 점검", 1),
    ("Arabic and Hindi", "مرحبا بالعالم नमस्ते दुनिया", 1),
    ("full width", "ＡＢＣ　１２３ 𝔘𝔫𝔦 ①", 1),
    ("emoji", "🚀 launch 👩‍👩‍👧 🇫🇷 ✂️", 1),
    ("controls", "bell\x07 \x01start\x7f \x0b\x0cvt ff\u00ad\ufeff\ufffd", 1),
    ("spaces", "no\u00a0break\u2028line\u3000wide\u2003em", 1),
    ("NUL", "before\x00after \x00", 1),
    ("NUL inside a special token", "[SE\x00P] [SEP]", 1),
    ("special tokens", "[SEP] in the [MASK] middle [CLS][PAD] [UNK]", 1),
    ("special tokens, other case", "[sep] [Mask] [ SEP ] ##ing", 1),
    ("code", "std::vector<int> v{1,2}; // ERR-104 CVE-2021-44228 node.js C++", 1),
    ("word of 100", "a" * 100, 1),
    ("word of 101", "a" * 101, 1),
    ("word of 150", "antidis" + "establish" * 15 + "mentarian", 1),
    ("fits exactly", " ".join(["tree"] * 510), 1),
    ("one too many", " ".join(["tree"] * 511), 1),
    ("2,000 words", words(2000), 1),
    ("40 KB of words", "harbour crane, quay seven. ", 1500),
    ("40 KB of Chinese", "数据库索引损坏后", 1700),
    ("40 KB in one word", "x", 40000),
    ("40 KB, boundaries few", "x" * 9000 + "\t", 5),
]

CAPITAL = "what is the capital of france"
LONG = words(700)
PAIRS = [
    (CAPITAL, "The capital of France is Paris."),
    (CAPITAL, "Paris is the capital of France."),
    (CAPITAL, "Paris is the capital and most populous city of France."),
    (CAPITAL, "Berlin is the capital of Germany."),
    (CAPITAL, "France is a country in Europe."),
    (CAPITAL, "I had a turkey sandwich."),
    (CAPITAL, ""),
    ("", "Paris"),
    ("", ""),
    ("[SEP]", "Paris [SEP] Berlin [MASK]"),
    ("東京\x00", "日本の首都"),
    (CAPITAL, LONG),
    (LONG, "Paris"),
    (LONG, words(900)),
    (words(900), LONG),
    (LONG, LONG),
    (words(253), words(256)),
    (words(254), words(700)),
    (words(255), words(700)),
    (words(256), words(700)),
]


def instruction_sets():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return [name for name in INSTRUCTION_SETS if name in line.split()]
    return []


class Model:
    def __init__(self, name, graph=None):
        self.tokenizer = Tokenizer.from_file(str(MODELS / name / "tokenizer.json"))
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.x64quantprecision", "1")
        options.add_session_config_entry("optimization.disable_specified_optimizers", "SkipLayerNormFusion")
        self.session = onnxruntime.InferenceSession(
            str(graph or MODELS / name / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, *texts):
        """The encoding the model is fed, and the token count before cutting."""
        self.tokenizer.no_truncation()
        count = len(self.tokenizer.encode(*texts).ids)
        self.tokenizer.enable_truncation(MAX_TOKENS)
        return self.tokenizer.encode(*texts), count

    def run(self, encoding):
        feed = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        return self.session.run(None, {name: np.array([row], np.int64) for name, row in feed.items()})[0][0]


def packed(values):
    """Numbers as base64 of little-endian 32-bit values: exact, and small."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def expansion(model, text):
    """The entries above zero: their indices and their weights."""
    encoding, _ = model.encode(text)
    weights = model.run(encoding)
    indices = np.nonzero(weights > 0)[0]
    return packed(indices.astype("<u4")), packed(weights[indices].astype("<f4"))


def text_case(name, text, times, role, dense, sparse, sparse_float):
    full = text * times
    encoding, count = dense.encode((QUERY_PREFIX if role == "query" else "") + full)
    vector = dense.run(encoding)[0]
    case = {"name": name, "text": text, "times": times, "role": role, "tokens": count}
    case["ids"] = packed(np.array(encoding.ids, "<u4"))
    case["dense"] = packed((vector / np.linalg.norm(vector)).astype("<f4"))
    case["indices"], case["weights"] = expansion(sparse, full)
    case["float_indices"], case["float_weights"] = expansion(sparse_float, full)
    return case


def pair_case(query, passage, model):
    encoding, count = model.encode(query, passage)
    return {
        "query": query,
        "passage": passage,
        "tokens": count,
        "ids": packed(np.array(encoding.ids, "<u4")),
        "first": encoding.type_ids.count(0),
        "logit": float(model.run(encoding)[0]),
    }


def main():
    dense, sparse, pair = Model("bge-small-en-v1.5"), Model("splade-tiny"), Model("ms-marco-minilm-l12-v2")
    heads = dense, sparse, Model("splade-tiny", sys.argv[1])
    texts = [text_case(*text, "passage", *heads) for text in TEXTS]
    texts.append(text_case("query prefix", "how do I reset the pump?", 1, "query", *heads))
    golden = {
        "instruction_sets": instruction_sets(),
        "texts": texts,
        "pairs": [pair_case(query, passage, pair) for query, passage in PAIRS],
    }
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")


main()
