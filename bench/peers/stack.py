"""What the stacks of Python libraries have in common: a store and a server.

A stack answers hybrid searches: dense vectors, SPLADE and BM25, fused by
reciprocal rank, and the cross-encoder over the first of them. Its script is
called in one of two ways:

  stack_X.py prepare MODELS FOLDER       stores FOLDER/documents.jsonl, once
  stack_X.py serve MODELS FOLDER PORT    serves what FOLDER holds

The server is Starlette on uvicorn with uvloop and httptools; a request has a
thread of its own. Routes:

  GET  /health
  POST /documents  {"documents": [{"id", "text"}]}       → {"stored": int}
  POST /search     {"query", "rerank": bool, "depth"}    → {"hits": [{"id", "score"}], "ms"}

/documents answers when all of them are on disk and can be found. "ms" is what
the stack took, without HTTP.
"""

import json
import sys
import threading
import time
from pathlib import Path

import numpy as np

LIMIT = 10
CANDIDATES = 100  # of each branch
RRF = 61  # qdrant-edge counts ranks from 0: this is 60 for ranks from 1
PREFIX = "Represent this sentence for searching relevant passages: "
CHUNK = 64


class Shard:
    """Documents with three vectors each in qdrant-edge, which is Qdrant in process."""

    def __init__(self, folder):
        from qdrant_edge import Bm25, Distance, EdgeConfig, EdgeShard, EdgeSparseVectorParams, EdgeVectorParams, Modifier

        self.path = Path(folder) / "shard"
        config = EdgeConfig(
            vectors={"dense": EdgeVectorParams(size=384, distance=Distance.Dot)},
            sparse_vectors={"splade": EdgeSparseVectorParams(), "bm25": EdgeSparseVectorParams(modifier=Modifier.Idf)},
        )
        if self.path.exists():
            self.shard = EdgeShard.load(str(self.path))
        else:
            self.path.mkdir(parents=True)
            self.shard = EdgeShard.create(str(self.path), config)
        self.bm25 = Bm25()
        self.next = self.shard.info().points_count
        self.writing = threading.Lock()

    def add(self, documents, dense, sparse):
        """Returns when the documents are on disk. sparse is a list of (indices, values)."""
        from qdrant_edge import Point, SparseVector, UpdateOperation

        with self.writing:
            points = []
            for document, vector, (indices, values) in zip(documents, dense, sparse):
                vectors = {
                    "dense": vector.tolist(),
                    "splade": SparseVector(indices=indices.tolist(), values=values.tolist()),
                    "bm25": self.bm25.embed_document(document["text"]),
                }
                points.append(Point(self.next, vectors, {"id": document["id"], "text": document["text"]}))
                self.next += 1
            self.shard.update(UpdateOperation.upsert_points(points))
            self.shard.flush()

    def optimize(self):
        self.shard.optimize()
        self.shard.flush()

    def search(self, query, dense, sparse, limit, texts):
        """The fused list as (id, text or "", score)."""
        from qdrant_edge import Fusion, Prefetch, Query, QueryRequest, SparseVector

        asked = [
            (dense.tolist(), "dense"),
            (SparseVector(indices=sparse[0].tolist(), values=sparse[1].tolist()), "splade"),
            (self.bm25.embed_query(query), "bm25"),
        ]
        prefetches = [Prefetch(limit=CANDIDATES, query=Query.Nearest(vector, using=name)) for vector, name in asked]
        found = self.shard.query(QueryRequest(
            limit=limit, query=Fusion.Rrf(k=RRF), prefetches=prefetches, with_payload=["id", "text"] if texts else ["id"],
        ))
        return [(p.payload["id"], p.payload.get("text", ""), p.score) for p in found]

    def close(self):
        self.shard.close()


def hybrid(shard, vectors, score):
    """The search of a stack on a Shard: vectors(query) makes (dense, sparse),
    score(query, texts) what the cross-encoder says."""

    def search(query, rerank, depth):
        dense, sparse = vectors(query)
        found = shard.search(query, dense, sparse, depth if rerank else LIMIT, rerank)
        if not rerank:
            return [(id, s) for id, _, s in found]
        scores = score(query, [text for _, text, _ in found])
        ranked = sorted(zip(scores, (id for id, _, _ in found)), key=lambda pair: -pair[0])
        return [(id, s) for s, id in ranked[:LIMIT]]

    return search


def documents(folder):
    with open(Path(folder) / "documents.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def encoded(folder):
    """The vectors of the documents that stack_onnxruntime.py made: dense, sparse."""
    with np.load(Path(folder) / "vectors.npz") as file:
        ends = np.cumsum(file["n"])
        sparse = list(zip(np.split(file["idx"], ends[:-1]), np.split(file["val"], ends[:-1])))
        return file["dense"], sparse


def fill(shard, folder):
    """Stores the documents with the vectors that are there."""
    texts, (dense, sparse) = documents(folder), encoded(folder)
    for at in range(0, len(texts), CHUNK):
        to = at + CHUNK
        shard.add(texts[at:to], dense[at:to], sparse[at:to])
    shard.optimize()
    shard.close()


def serve(port, search, add):
    """search(query, rerank, depth) → [(id, score)]; add(documents) stores."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    def timed(body):
        begun = time.perf_counter()
        hits = search(body["query"], body["rerank"], body["depth"])
        return {"hits": [{"id": id, "score": float(s)} for id, s in hits], "ms": 1000 * (time.perf_counter() - begun)}

    async def on_search(request):
        return JSONResponse(await run_in_threadpool(timed, await request.json()))

    async def on_documents(request):
        given = (await request.json())["documents"]
        await run_in_threadpool(add, given)
        return JSONResponse({"stored": len(given)})

    async def on_health(_):
        return JSONResponse({})

    app = Starlette(routes=[
        Route("/health", on_health), Route("/search", on_search, methods=["POST"]),
        Route("/documents", on_documents, methods=["POST"]),
    ])
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False, loop="uvloop", http="httptools")


def main(prepare, run):
    action, *rest = sys.argv[1:]
    {"prepare": prepare, "serve": run}[action](*rest)
