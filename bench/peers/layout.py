"""Lays a model of ours out as libraries of the hub expect it.

They want configuration files beside model.onnx and tokenizer.json. Both models
here are BERTs of 12 layers with 384 hidden units over BERT's uncased vocabulary.
The model's files are links, so that every contender reads the same bytes.
"""

import json
import shutil
from pathlib import Path

CONFIG = {
    "model_type": "bert",
    "hidden_size": 384,
    "intermediate_size": 1536,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "vocab_size": 30522,
    "pad_token_id": 0,
}
SPECIAL = {"cls_token": "[CLS]", "mask_token": "[MASK]", "pad_token": "[PAD]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
HEADS = {
    "dense": {"architectures": ["BertModel"]},
    "pair": {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}},
}


def lay_out(kind, source, target):
    """Makes the folder target anew and returns it."""
    source, target = Path(source).resolve(), Path(target)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json"):
        (target / name).symlink_to(source / name)
    write(target / "config.json", CONFIG | HEADS[kind])
    write(target / "special_tokens_map.json", SPECIAL)
    write(target / "tokenizer_config.json", SPECIAL | {"tokenizer_class": "BertTokenizerFast", "do_lower_case": True, "model_max_length": 512})
    return target


def write(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")
