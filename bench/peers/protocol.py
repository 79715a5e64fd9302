"""The loop every Python peer runs: a job a line in, an outcome a line out.

Job: {"task": "queries" | "passages" | "rerank", "query": str, "texts": [str]}.
Outcome: {"seconds": [float], "results": [[float]]}, one row a text. Of queries
each text is a call of its own and has its own time; the others are one call.
Reading, writing and JSON are outside the times. The protocol's pipe is the
standard output the process began with; whatever libraries print goes to stderr.
"""

import json
import os
import sys
import time


def serve(encode=None, score=None):
    """encode(texts) and score(query, texts) return rows of numbers."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reply(out, {"ready": True})
    for line in sys.stdin:
        job = json.loads(line)
        seconds, results = [], []
        for call in calls(job, encode, score):
            begun = time.perf_counter()
            rows = list(call())  # a generator works as it is read
            seconds.append(time.perf_counter() - begun)
            results += [[float(v) for v in row] for row in rows]
        reply(out, {"seconds": seconds, "results": results})


def serve_ways(one):
    """Serves the task generate. one(text) returns a row and the seconds by way."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reply(out, {"ready": True})
    for line in sys.stdin:
        job, results, ways = json.loads(line), [], {}
        for text in job["texts"]:
            time.sleep(job.get("pause", 0))
            row, seconds = one(text)
            results.append([float(v) for v in row])
            for way, s in seconds.items():
                ways.setdefault(way, []).append(s)
        reply(out, {"seconds": [], "results": results, "ways": ways})


def calls(job, encode, score):
    texts = job["texts"]
    if job["task"] == "rerank":
        return [lambda: score(job["query"], texts)]
    if job["task"] == "passages":
        return [lambda: encode(texts)]
    return [lambda t=t: encode([t]) for t in texts]


def reply(out, value):
    json.dump(value, out)
    out.write("\n")
    out.flush()
