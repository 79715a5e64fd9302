"""The limit of ingestion: ingest_peer.py MODELS SCRATCH.

Both vectors of every passage with bare onnxruntime in process, in the fastest of
the ways measured (one text a run on one thread, a caller a core, the longest
first), then one write of all of them and their texts, synced. There is no index
and no server.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from protocol import serve
from stack_onnxruntime import Models


def main(models, scratch):
    made = Models(models)
    Path(scratch).mkdir(parents=True, exist_ok=True)

    def encode(texts):
        dense, sparse = made.encode(texts)
        with open(Path(scratch) / "written", "wb") as file:
            file.write(json.dumps(texts).encode())
            file.write(np.stack(dense).tobytes())
            for indices, values in sparse:
                file.write(indices.tobytes() + values.tobytes())
            file.flush()
            os.fsync(file.fileno())
        return dense

    serve(encode=encode)


if __name__ == "__main__":
    main(*sys.argv[1:])
