"""hnswlib on one core: dense_peer.py VECTORS QUERIES DIM K M EF_CONSTRUCTION EF...

VECTORS and QUERIES are files of little-endian float32. Prints a line of JSON: how
long the build took, and for each EF the seconds of each of five rounds over all
queries and the ids found.
"""

import json
import sys
import time

import hnswlib
import numpy as np


def main(vectors, queries, dim, k, m, construction, *efs):
    dim, k = int(dim), int(k)
    base = np.fromfile(vectors, dtype="<f4").reshape(-1, dim)
    asked = np.fromfile(queries, dtype="<f4").reshape(-1, dim)
    index = hnswlib.Index(space="ip", dim=dim)
    index.init_index(max_elements=len(base), ef_construction=int(construction), M=int(m))
    index.set_num_threads(1)
    begun = time.perf_counter()
    index.add_items(base, num_threads=1)
    out = {"build": time.perf_counter() - begun, "curve": []}
    for ef in efs:
        index.set_ef(int(ef))
        rounds = []
        for _ in range(5):
            begun = time.perf_counter()
            labels, _ = index.knn_query(asked, k=k, num_threads=1)
            rounds.append(time.perf_counter() - begun)
        out["curve"].append({"ef": int(ef), "rounds": rounds, "ids": labels.tolist()})
    print(json.dumps(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
