"""Makes the small models of this folder and golden.json, their outputs in Python.

    python3 -m venv /tmp/families
    /tmp/families/bin/pip install -r requirements.txt
    /tmp/families/bin/python families.py

Each is a real encoder (embeddings, positions as its family numbers them, one
layer of attention) with random weights, and a real tokenizer of its family,
trained on a few sentences: what is small is the size, not the way. Training
breaks ties at random, so a run makes everything anew; commit all of it.

    distilbert-dense      sentence-transformers' layout, hidden states, mean pooling;
                          a second graph, quantised dynamically
    xlmr-dense            sentence-transformers' ONNX export: pooled in the graph
    roberta-reranker      Optimum's layout, one logit, weights outside the graph
    distilbert-splade     logits per token, and token weights for queries
"""

import base64
import json
import pathlib
import shutil

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
HIDDEN, POSITIONS, VOCABULARY = 8, 64, 300

CORPUS = [
    "the harbour crane was moved to quay seven before dawn because of a storm warning",
    "reset the pump and check the seal, then open the valve slowly",
    "how do I prime the pump? press the button twice and wait for the light",
    "error ERR-104: the file could not be read, v2.1 is needed",
    "Straße, café, naïve, Ångström; 東京都は日本の首都です; привет мир",
    "query: passage: museum hours, tram schedule, warehouse access",
]
TEXTS = [
    "reset the pump",
    "How do I prime the pump?",
    "",
    "  two  spaces and a\ttab ",
    "café Straße 東京都 🙂 ERR-104",
    "the crane was moved to quay seven before dawn " * 12,
    "<s> </s> [SEP] [CLS] <pad>",
]


class Graph:
    """Collects nodes and weights."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def op(self, kind, *inputs, name=None, **attributes):
        self.count += 1
        output = name or f"{kind}_{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], f"{kind}_{self.count}", **attributes))
        return output

    def weight(self, name, *shape):
        value = self.random.normal(0, 1 / np.sqrt(HIDDEN), shape).astype(np.float32)
        return self.constant(name, value)

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def norm(self, x, name):
        scale = self.constant(f"{name}.weight", np.ones(HIDDEN, np.float32))
        return self.op("LayerNormalization", x, scale, self.constant(f"{name}.bias", np.zeros(HIDDEN, np.float32)), axis=-1)

    def linear(self, x, name, width=HIDDEN):
        return self.op("MatMul", x, self.weight(f"{name}.weight", HIDDEN, width))

    def encoder(self, offset):
        """Hidden states. offset is the padding id of families that number
        positions from it on, None for those that start at 0."""
        rows = POSITIONS + (0 if offset is None else offset + 1)
        ones = self.op("Cast", "attention_mask", to=TensorProto.INT64)
        counted = self.op("CumSum", ones, self.constant("axis", np.int64(1)))
        if offset is None:
            positions = self.op("Sub", counted, self.constant("one", np.int64(1)))
        else:
            positions = self.op("Add", self.op("Mul", counted, ones), self.constant("offset", np.int64(offset)))
        words = self.op("Gather", self.weight("embeddings.word_embeddings.weight", VOCABULARY, HIDDEN), "input_ids")
        places = self.op("Gather", self.weight("embeddings.position_embeddings.weight", rows, HIDDEN), positions)
        x = self.norm(self.op("Add", words, places), "embeddings.LayerNorm")
        q, k, v = (self.linear(x, f"attention.{n}") for n in "qkv")
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 2, 1]))
        mask = self.op("Unsqueeze", self.op("Cast", "attention_mask", to=TensorProto.FLOAT), self.constant("mask axis", np.array([1])))
        hidden_away = self.op("Mul", self.op("Sub", self.constant("shown", np.float32(1)), mask), self.constant("hidden", np.float32(-1e4)))
        attention = self.op("Softmax", self.op("Add", scores, hidden_away), axis=-1)
        return self.norm(self.op("Add", x, self.linear(self.op("MatMul", attention, v), "output")), "LayerNorm")

    def first(self, x):
        return self.op("Gather", x, self.constant("first", np.int64(0)), axis=1)

    def save(self, path, outputs, external=None):
        path.parent.mkdir(parents=True, exist_ok=True)
        inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "sequence"]) for n in ("input_ids", "attention_mask")]
        infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in outputs]
        graph = helper.make_graph(self.nodes, "model", inputs, infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="families.py")
        onnx.checker.check_model(model, full_check=True)
        onnx.save_model(model, path, save_as_external_data=bool(external), location=external, size_threshold=100)


def wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t


SENTENCEPIECE_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def byte_level():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SENTENCEPIECE_SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    return t


def unigram():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.train_from_iterator(CORPUS, trainers.UnigramTrainer(
        vocab_size=VOCABULARY, special_tokens=SENTENCEPIECE_SPECIALS, unk_token="<unk>", show_progress=False))
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return t


def write(folder, name, value):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def fresh(name, tokenizer, **config):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write(folder, "tokenizer.json", tokenizer.to_str(pretty=False))
    write(folder, "config.json", {"vocab_size": VOCABULARY, **config})
    return folder


def modules(folder, *kinds, package="sentence_transformers.models"):
    write(folder, "modules.json", [
        {"idx": i, "name": str(i), "path": "" if i == 0 else f"{i}_{kind}", "type": f"{package}.{kind}"} for i, kind in enumerate(kinds)])


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def encode(tokenizer, limit, text, pair=None):
    tokenizer.enable_truncation(limit, strategy="longest_first")
    ids = tokenizer.encode(text, pair).ids
    tokenizer.no_truncation()
    return ids


def run(model, ids, output):
    feed = {"input_ids": np.array([ids], np.int64), "attention_mask": np.ones((1, len(ids)), np.int64)}
    return model.run([output], feed)[0][0]


def floats(values):
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


def unit(vector):
    return vector / np.linalg.norm(vector)


def distilbert_dense():
    tokenizer = wordpiece()
    folder = fresh("distilbert-dense", tokenizer, architectures=["DistilBertModel"], model_type="distilbert", dim=HIDDEN,
                   max_position_embeddings=POSITIONS, pad_token_id=0)
    g = Graph(1)
    g.op("Identity", g.encoder(None), name="last_hidden_state")
    g.save(folder / "onnx/model.onnx", [("last_hidden_state", ["batch", "sequence", HIDDEN])])
    quantize_dynamic(folder / "onnx/model.onnx", folder / "onnx/model_quantized.onnx", weight_type=QuantType.QInt8)
    modules(folder, "Transformer", "Pooling", "Normalize")
    write(folder, "1_Pooling/config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True})
    write(folder, "sentence_bert_config.json", {"max_seq_length": 48, "do_lower_case": False})
    write(folder, "config_sentence_transformers.json", {"prompts": {"query": "query: ", "passage": "passage: "}, "similarity_fn_name": "cosine"})
    write(folder, "tokenizer_config.json", {"model_max_length": 512, "tokenizer_class": "DistilBertTokenizer"})
    write(folder, "README.md", "---\nlicense: apache-2.0\ntags: [test]\n---\nRandom weights.\n")
    model = session(folder / "onnx/model.onnx")
    goldens = []
    for text in TEXTS:
        for role in ("query", "passage"):
            ids = encode(tokenizer, 48, f"{role}: {text}")
            goldens.append({"text": text, "role": role, "ids": ids, "values": floats(unit(run(model, ids, "last_hidden_state").mean(0)))})
    return goldens


def xlmr_dense():
    tokenizer = unigram()
    folder = fresh("xlmr-dense", tokenizer, architectures=["XLMRobertaModel"], model_type="xlm-roberta", hidden_size=HIDDEN,
                   max_position_embeddings=POSITIONS + 2, pad_token_id=1)
    g = Graph(2)
    hidden = g.op("Identity", g.encoder(1), name="token_embeddings")
    g.op("LpNormalization", g.first(hidden), axis=-1, p=2, name="sentence_embedding")
    g.save(folder / "onnx/model.onnx", [("token_embeddings", ["batch", "sequence", HIDDEN]), ("sentence_embedding", ["batch", HIDDEN])])
    modules(folder, "Transformer", "Pooling", "Normalize")
    write(folder, "1_Pooling/config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": True})
    write(folder, "tokenizer_config.json", {"model_max_length": 8192})
    model = session(folder / "onnx/model.onnx")
    return [{"text": text, "role": "passage", "ids": ids, "values": floats(run(model, ids, "sentence_embedding"))}
            for text in TEXTS for ids in [encode(tokenizer, POSITIONS, text)]]


def roberta_reranker():
    tokenizer = byte_level()
    folder = fresh("roberta-reranker", tokenizer, architectures=["RobertaForSequenceClassification"], model_type="roberta",
                   hidden_size=HIDDEN, max_position_embeddings=POSITIONS + 2, pad_token_id=1, id2label={"0": "LABEL_0"})
    g = Graph(3)
    g.op("Identity", g.linear(g.first(g.encoder(1)), "classifier", 1), name="logits")
    g.save(folder / "model.onnx", [("logits", ["batch", 1])], external="model.onnx_data")
    write(folder, "tokenizer_config.json", '{"model_max_length": 1000000000000000019884624838656}\n')
    model = session(folder / "model.onnx")
    return [{"query": query, "text": text, "ids": ids, "values": floats(run(model, ids, "logits"))}
            for query in ("reset the pump", "", "crane " * 80) for text in TEXTS for ids in [encode(tokenizer, POSITIONS, query, text)]]


def distilbert_splade():
    tokenizer = wordpiece()
    folder = fresh("distilbert-splade", tokenizer, architectures=["DistilBertForMaskedLM"], model_type="distilbert", dim=HIDDEN,
                   max_position_embeddings=POSITIONS, pad_token_id=0)
    g = Graph(4)
    g.op("Identity", g.linear(g.encoder(None), "vocabulary", VOCABULARY), name="logits")
    g.save(folder / "model.onnx", [("logits", ["batch", "sequence", VOCABULARY])])
    modules(folder, "MLMTransformer", "SpladePooling", package="sentence_transformers.sparse_encoder.models")
    write(folder, "1_SpladePooling/config.json", {"pooling_strategy": "max", "activation_function": "log1p_relu"})
    vocabulary = tokenizer.get_vocab()
    weights = {token: round(0.5 + id % 97 / 31, 4) for token, id in sorted(vocabulary.items()) if id % 5 != 4}
    write(folder, "idf.json", weights)
    model = session(folder / "model.onnx")
    special = {vocabulary[t] for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")}
    goldens = []
    for text in TEXTS:
        ids = encode(tokenizer, POSITIONS, text)
        x = np.maximum(run(model, ids, "logits").max(0), 0)
        goldens.append({"text": text, "role": "passage", "ids": ids, "values": floats(np.log1p(np.log1p(x)))})
        query = np.zeros(VOCABULARY)
        for id in set(ids) - special:
            query[id] = weights.get(tokenizer.id_to_token(id), 0)
        goldens.append({"text": text, "role": "query", "ids": ids, "values": floats(query)})
    return goldens


def main():
    goldens = {make.__name__.replace("_", "-"): make() for make in (distilbert_dense, xlmr_dense, roberta_reranker, distilbert_splade)}
    lines = [f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(g, ensure_ascii=False) for g in list) + "\n]" for name, list in goldens.items()]
    write(HERE, "golden.json", "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
