#!/usr/bin/env python3
"""Writes golden.json: random judgments and rankings with the values that
trec_eval's own code gives them. Deterministic; run it in a throw-away venv:

    python3 -m venv /tmp/v && /tmp/v/bin/pip install pytrec-eval-terrier==0.5.11
    /tmp/v/bin/python golden.py > golden.json

Rankings are passed as scores that fall by one per position, so that trec_eval
sees exactly the order given and never its own way of breaking ties.
"""
import json
import random

import pytrec_eval

DOCS = [f"d{i:03d}" for i in range(160)]


def case(rng, grades, judged, retrieved):
    judgments = {d: rng.choice(grades) for d in rng.sample(DOCS, judged)}
    # from no better than chance to good, so that every measure takes many values
    skill = rng.uniform(0, 0.25)
    chance = {d: rng.random() - skill * judgments.get(d, 0) for d in DOCS}
    return judgments, sorted(DOCS, key=chance.get)[:retrieved]


def measure(judgments, ranked):
    qrels = {"q": judgments}

    def values(ranking, measures):
        run = {"q": {d: float(len(ranking) - i) for i, d in enumerate(ranking)}}
        return pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)["q"]

    full = values(ranked, {"ndcg_cut.10", "recall.20,100"})
    return {
        "ndcg@10": full["ndcg_cut_10"],
        # reciprocal rank has no cut-off in trec_eval: cut the ranking instead
        "mrr@10": values(ranked[:10], {"recip_rank"})["recip_rank"],
        "recall@20": full["recall_20"],
        "recall@100": full["recall_100"],
    }


def main():
    rng = random.Random(20090719)
    shapes = [
        # grades, judged documents, retrieved documents
        ([1], 1, 100),
        ([1], 5, 100),
        ([0, 1], 30, 100),
        ([0, 1, 2], 30, 100),
        ([0, 1, 2, 3, 4], 60, 150),
        ([-2, -1, 0, 1, 2], 40, 100),
        ([0, 1, 2], 120, 8),
        ([1, 3], 150, 160),
        ([0], 10, 50),
        ([-1, 0], 10, 50),
        ([0, 1], 20, 1),
    ]
    cases = []
    for grades, judged, retrieved in shapes:
        for _ in range(4):
            judgments, ranked = case(rng, grades, judged, retrieved)
            cases.append({"judgments": judgments, "ranked": ranked, "want": measure(judgments, ranked)})
    print("[")
    print(",\n".join(json.dumps(c, sort_keys=True) for c in cases))
    print("]")


if __name__ == "__main__":
    main()
