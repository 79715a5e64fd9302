"""FastEmbed with a custom model: fastembed_peer.py KIND MODEL_DIR BATCH.

KIND is dense or pair. BATCH is the batch size given to the library, or
"default" for its own.
"""

import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.rerank.cross_encoder import TextCrossEncoder
from layout import lay_out
from protocol import serve

NAME = "bench/local"
SOURCE = ModelSource(hf=NAME)  # never asked: the files are local


def main(kind, folder, batch):
    options = {} if batch == "default" else {"batch_size": int(batch)}
    with tempfile.TemporaryDirectory() as scratch:
        local = str(lay_out(kind, folder, scratch + "/model"))
        if kind == "pair":
            TextCrossEncoder.add_custom_model(NAME, sources=SOURCE, model_file="model.onnx")
            scorer = TextCrossEncoder(NAME, specific_model_path=local)
            serve(score=lambda query, texts: [[s] for s in scorer.rerank(query, texts, **options)])
            return
        TextEmbedding.add_custom_model(NAME, pooling=PoolingType.CLS, normalization=True, sources=SOURCE, dim=384, model_file="model.onnx")
        embedder = TextEmbedding(NAME, specific_model_path=local)
        serve(encode=lambda texts: embedder.embed(texts, **options))


if __name__ == "__main__":
    main(*sys.argv[1:])
