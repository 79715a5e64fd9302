"""Rules for reranking, compared on what `bench/rerank` wrote: FILE.jsonl …

Three judges order the scored candidates: "pure" by the logit, "blend" by half the
logit and half the fused score, both min-max scaled, "sig" the same with the sigmoid
of the logit. Needs numpy.
"""

import json
import math
import sys

import numpy as np

JUDGES = ["pure", "blend", "sig"]


def load(path):
    """The queries of a file, each once; a last line cut short is left out."""
    queries = {}
    for text in open(path):
        try:
            q = json.loads(text)
        except json.JSONDecodeError:
            continue
        queries.setdefault(q["id"], q)
    return list(queries.values())


def gain(grades):
    return sum(g / math.log2(i + 2) for i, g in enumerate(grades) if g > 0)


def ndcg(judgments, ids, k=10):
    best = gain(sorted(judgments.values(), reverse=True)[:k])
    return gain([judgments.get(i, 0) for i in ids[:k]]) / best if best else 0


def minmax(x):
    x = np.array(x, float)
    r = x.max() - x.min()
    return np.ones_like(x) if r == 0 else (x - x.min()) / r


def order(ids, scores):
    return [ids[i] for i in sorted(range(len(ids)), key=lambda i: (-scores[i], ids[i]))]


def sigmoid(x):
    return 1 / (1 + np.exp(-np.array(x, float)))


def quality(q, logits):
    """nDCG@10 by judge; a candidate whose logit is None was not scored."""
    ids = [c["id"] for c in q["candidates"]]
    scored = [i for i, l in enumerate(logits) if l is not None]
    rest = [ids[i] for i, l in enumerate(logits) if l is None] + q["ranking"][len(ids):]
    names, l = [ids[i] for i in scored], [logits[i] for i in scored]
    fused = minmax([q["candidates"][i]["fused"] for i in scored])
    scores = {"pure": l, "blend": minmax(l) / 2 + fused / 2, "sig": sigmoid(l) / 2 + fused / 2}
    return [ndcg(q["judgments"], order(names, scores[j]) + rest) for j in JUDGES]


def compare(queries, rules):
    """A line a rule: mean, difference to the first rule, the difference of each
    half of the queries under "blend", and the share of tokens and of pairs."""
    base = None
    for name, rule in rules:
        values, tokens, pairs = [], 0, 0
        for q in queries:
            answer = rule(q)
            values.append(quality(q, [a[0] for a in answer]))
            tokens += sum(a[1] for a in answer)
            pairs += sum(a[0] is not None for a in answer)
        values = np.array(values)
        if base is None:
            base = values, tokens, pairs
        d = values - base[0]
        h = len(queries) // 2
        cells = " ".join(f"{j} {v:.4f} ({x:+.4f})" for j, v, x in zip(JUDGES, values.mean(0), d.mean(0)))
        print(f"  {name:18s} {cells} halves {d[:h, 1].mean():+.4f} {d[h:, 1].mean():+.4f}"
              f" tokens {tokens / base[1]:.2f} pairs {pairs / base[2]:.2f}")


def length(q, n):
    return min(512, n + q["tokens"] + 3)


def whole(q):
    return [(c["logit"], length(q, len(c["ids"]))) for c in q["candidates"]]


def windowed(size, rule, longer=0):
    """The best windows of passages longer than `longer` tokens by a rule: `first`,
    `splade` or `idf` (the window whose distinct tokens have the highest sum of the
    query's SPLADE weights, or of idf over the candidates), with 2 for the best two
    that hardly overlap, or `max` for all of them."""

    def pick(q, c, idf):
        windows = c["windows"].get(str(size))
        if not windows or len(c["ids"]) <= longer:
            return c["logit"], length(q, len(c["ids"]))
        weights = dict(zip(*q["expansion"])) if rule.startswith("splade") else idf
        if rule == "max":
            chosen = windows
        elif rule == "first":
            chosen = windows[:1]
        else:
            found = [sum(weights.get(t, 0) for t in set(c["ids"][w["from"]:w["to"]])) for w in windows]
            ranked = [windows[i] for i in sorted(range(len(windows)), key=lambda i: (-found[i], i))]
            chosen = ranked[:1]
            if rule.endswith("2"):
                a = chosen[0]
                chosen += [w for w in ranked[1:] if w["from"] >= a["to"] - 8 or w["to"] <= a["from"] + 8][:1]
        return max(w["logit"] for w in chosen), sum(length(q, w["head"] + w["to"] - w["from"]) for w in chosen)

    def answer(q):
        n = len(q["candidates"])
        sets = [set(c["ids"]) for c in q["candidates"]]
        idf = {}
        for t in set(q["query_ids"]):
            df = sum(t in s for s in sets)
            idf[t] = math.log(1 + (n - df + 0.5) / (df + 0.5))
        return [pick(q, c, idf) for c in q["candidates"]]

    return answer


def stopped(rule):
    """Scores the first rule(q, logits) candidates."""

    def answer(q):
        n = rule(q, [c["logit"] for c in q["candidates"]])
        return [a if i < n else (None, 0) for i, a in enumerate(whole(q))]

    return answer


def last(m, k, margin):
    """Stop, in steps of 2, when the last m are more than margin below the k-th best."""

    def rule(q, logits):
        n = 0
        while n < len(logits):
            n = min(n + 2, len(logits))
            if n >= max(k, m) and max(logits[n - m:n]) < sorted(logits[:n], reverse=True)[k - 1] - margin:
                break
        return n

    return rule


def bound(k, room):
    """Stop when no later candidate, with a logit of `room` of the range seen, could
    come among the first k of the blend."""

    def rule(q, logits):
        fused = minmax([c["fused"] for c in q["candidates"]])
        n = 0
        while n < len(logits):
            n = min(n + 2, len(logits))
            if n > k and n < len(logits) and room / 2 + fused[n] / 2 < sorted(minmax(logits[:n]) / 2 + fused[:n] / 2)[-k]:
                break
        return n

    return rule


def platt(x, y):
    """a, b of sigmoid(a·x + b) with the least log loss, by Newton's method."""
    a, b = 0.0, 0.0
    m = np.stack([x, np.ones_like(x)], 1)
    for _ in range(50):
        p = sigmoid(a * x + b)
        h = m.T @ (m * (p * (1 - p))[:, None]) + 1e-3 * np.eye(2)
        a, b = np.array([a, b]) - np.linalg.solve(h, m.T @ (p - y) + 1e-3 * np.array([a, b]))
    return a, b


def abstain(queries):
    """The highest logit with all candidates, and with the relevant ones removed:
    how well it tells the two apart, and the Brier score and calibration error of the
    bare sigmoid and of a Platt scaling fitted on one half, both on the other half."""
    x, y, half = [], [], []
    for i, q in enumerate(queries):
        for relevant_left in (True, False):
            kept = [c["logit"] for c in q["candidates"] if relevant_left or q["judgments"].get(c["id"], 0) <= 0]
            found = any(q["judgments"].get(c["id"], 0) > 0 for c in q["candidates"])
            if not kept or relevant_left and not found:
                continue
            x.append(max(kept)), y.append(float(relevant_left)), half.append(i < len(queries) // 2)
    x, y, half = np.array(x), np.array(y), np.array(half)
    auc = np.mean([(a > b) + (a == b) / 2 for a in x[y == 1] for b in x[y == 0]])

    def faults(p, t):
        bins = np.minimum((p * 10).astype(int), 9)
        ece = sum(abs(p[bins == b].mean() - t[bins == b].mean()) * (bins == b).mean() for b in set(bins))
        return f"Brier {np.mean((p - t) ** 2):.3f} ECE {ece:.3f}"

    a, b = platt(x[half], y[half])
    print(f"  nothing relevant: AUC {auc:.3f}; sigmoid {faults(sigmoid(x[~half]), y[~half])};"
          f" Platt ({a:.2f}, {b:.2f}) {faults(sigmoid(a * x[~half] + b), y[~half])}")


def main(paths):
    for path in paths:
        queries = [q for q in load(path) if q["candidates"]]
        mean = np.mean([len(c["ids"]) for q in queries for c in q["candidates"]])
        fused = np.mean([ndcg(q["judgments"], q["ranking"]) for q in queries])
        print(f"{queries[0]['set']}: {len(queries)} queries, {mean:.0f} tokens a passage, fused {fused:.4f}")
        sizes = sorted({int(s) for q in queries for c in q["candidates"] for s in c["windows"]})
        rules = [("whole", whole)]
        for size in sizes:
            rules += [(f"{r}-{size}", windowed(size, r)) for r in ("first", "splade", "splade2", "idf", "idf2", "max")]
            rules += [(f"splade-{size} >240", windowed(size, "splade", 240))]
        rules += [(f"depth {d}", stopped(lambda q, l, d=d: d)) for d in (15, 12, 10, 5)]
        rules += [(f"last {m} k {k} by {g}", stopped(last(m, k, g))) for m in (4, 6) for k in (1, 3, 5) for g in (0, 2, 4)]
        rules += [(f"bound k {k} {r}", stopped(bound(k, r))) for k in (3, 5, 10) for r in (1, 0.8)]
        compare(queries, rules)
        abstain(queries)


main(sys.argv[1:])
