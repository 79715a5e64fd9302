"""Indexes of dense vectors:
dense_peer.py PEER VECTORS QUERIES DIM K M EF_CONSTRUCTION THREADS

VECTORS and QUERIES are files of little-endian float32. Prints a line
{"seconds", "bytes"} when it has indexed the vectors: how long that took and what
the memory of the process grew by. Then for each line {"ef": int} it searches and
prints a line {"seconds": [float], "ids": [[int]]}. Graphs get all queries in one
call, and its time is shared out; numpy and faiss-flat get one after the other.
"""

import gc
import json
import sys
import time

import numpy as np


def memory():
    """What the process holds in memory, in bytes."""
    gc.collect()
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS in /proc/self/status")


def hnswlib_graph(base, m, construction, threads):
    import hnswlib

    def build():
        index = hnswlib.Index(space="ip", dim=base.shape[1])
        index.init_index(max_elements=len(base), ef_construction=construction, M=m)
        index.add_items(base, num_threads=threads)
        return index

    def search(index, queries, k, ef):
        index.set_ef(ef)
        return lambda: index.knn_query(queries, k=k, num_threads=threads)[0]

    return build, search


def usearch_graph(base, m, construction, threads):
    from usearch.index import Index

    keys = np.arange(len(base), dtype=np.uint64)

    def build():
        index = Index(ndim=base.shape[1], metric="ip", dtype="f32", connectivity=m, expansion_add=construction)
        index.add(keys, base, threads=threads)
        return index

    def search(index, queries, k, ef):
        index.expansion_search = ef
        return lambda: index.search(queries, k, threads=threads).keys

    return build, search


def faiss_graph(base, m, construction, threads):
    import faiss

    faiss.omp_set_num_threads(threads)

    def build():
        index = faiss.IndexHNSWFlat(base.shape[1], m, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = construction
        index.add(base)
        return index

    def search(index, queries, k, ef):
        index.hnsw.efSearch = ef
        return lambda: index.search(queries, k)[1]

    return build, search


def faiss_flat(base, m, construction, threads):
    import faiss

    faiss.omp_set_num_threads(threads)

    def build():
        index = faiss.IndexFlatIP(base.shape[1])
        index.add(base)
        return index

    def search(index, queries, k, ef):
        return lambda query: index.search(query, k)[1][0]

    return build, search


def numpy_scan(base, m, construction, threads):
    def best(query, k):
        scores = base @ query[0]
        top = np.argpartition(scores, len(scores) - k)[-k:]
        return top[np.argsort(-scores[top])]

    return lambda: None, lambda index, queries, k, ef: lambda query: best(query, k)


GRAPHS = {"hnswlib": hnswlib_graph, "usearch": usearch_graph, "faiss": faiss_graph}
SCANS = {"numpy": numpy_scan, "faiss-flat": faiss_flat}


def main(peer, vectors, queries, *numbers):
    dim, k, m, construction, threads = map(int, numbers)
    base = np.fromfile(vectors, dtype="<f4").reshape(-1, dim)
    asked = np.fromfile(queries, dtype="<f4").reshape(-1, dim)
    build, search = {**GRAPHS, **SCANS}[peer](base, m, construction, threads)
    before, begun = memory(), time.perf_counter()
    index = build()
    seconds = time.perf_counter() - begun
    print(json.dumps({"seconds": seconds, "bytes": memory() - before}), flush=True)
    for line in sys.stdin:
        call = search(index, asked, k, json.loads(line)["ef"])
        if peer in GRAPHS:
            begun = time.perf_counter()
            ids = call().tolist()
            took = [(time.perf_counter() - begun) / len(asked)] * len(asked)
        else:
            ids, took = [], []
            for q in range(len(asked)):
                begun = time.perf_counter()
                found = call(asked[q : q + 1])
                took.append(time.perf_counter() - begun)
                ids.append(found.tolist())
        print(json.dumps({"seconds": took, "ids": ids}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
