#!/usr/bin/env python3
"""Writes ties.json: random graded judgments and scored runs with ties, with the
values that trec_eval's own code gives them. Deterministic; run it in a
throw-away venv:

    python3 -m venv /tmp/v && /tmp/v/bin/pip install pytrec-eval-terrier==0.5.11
    /tmp/v/bin/python ties.py > ties.json

Some scores differ only beyond float32, where trec_eval sees a tie.
"""
import json
import random
from importlib.metadata import version

import pytrec_eval

# names of ir-measures and of trec_eval
MEASURES = {
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "nDCG": "ndcg",
    "RR": "recip_rank",
    "R@5": "recall_5",
    "R@20": "recall_20",
    "R@100": "recall_100",
    "P@5": "P_5",
    "P@10": "P_10",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "AP": "map",
    "AP@10": "map_cut_10",
}
WANTED = {"ndcg_cut.5,10", "ndcg", "recip_rank", "recall.5,20,100", "P.5,10", "success.1,5", "map", "map_cut.10"}


def case(rng):
    docs = [f"d{i}" for i in range(rng.choice([6, 30, 90]))]  # d9 > d10: ids as text
    grades = rng.choice([[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [0]])
    judgments = {d: rng.choice(grades) for d in rng.sample(docs, rng.randint(1, len(docs)))}
    steps = rng.choice([2, 5, 20])
    scores = {}
    for d in rng.sample(docs, rng.randint(1, len(docs))):
        score = rng.randint(1, steps) + 0.4 * max(judgments.get(d, 0), 0)
        scores[d] = score + rng.choice([0, 0, 1e-10])
    values = pytrec_eval.RelevanceEvaluator({"q": judgments}, WANTED).evaluate({"q": scores})["q"]
    want = {name: values[theirs] for name, theirs in MEASURES.items()}
    return {"judgments": judgments, "scores": scores, "want": want}


def main():
    rng = random.Random(19990801)
    cases = ",\n".join(json.dumps(case(rng), sort_keys=True) for _ in range(50))
    print('{"pytrec-eval-terrier": "%s", "cases": [' % version("pytrec-eval-terrier"))
    print(cases)
    print("]}")


if __name__ == "__main__":
    main()
