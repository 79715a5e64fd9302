"""What the Python suites share: the goldens, comparisons with them, and the
register of checks. A check returns what it saw, and raises when that is wrong."""

import importlib.metadata
import json
import math
import pathlib
import sys

SERVER = sys.argv[1]
GOLDEN = json.loads(pathlib.Path(sys.argv[2]).read_text())
DENSE, SPARSE, RERANKER = GOLDEN["dense"], GOLDEN["sparse"], GOLDEN["reranker"]
QUERY_PREFIX = GOLDEN["query_prefix"]
TEXTS, QUERY, DOCUMENTS = GOLDEN["texts"], GOLDEN["query"], GOLDEN["documents"]
ORDER = sorted(range(len(DOCUMENTS)), key=lambda i: -GOLDEN["logits"][i])
TOLERANCE = 1e-5

_checks = []


def check(package: str, route: str, what: str):
    """Registers a function as a check of a package's client; "" is none."""
    client = f"{package} {importlib.metadata.version(package)} (Python)" if package else "plain HTTP"

    def register(function):
        _checks.append((client, route, what, function))
        return function
    return register


def run_checks() -> None:
    with open(sys.argv[3], "w") as results:
        for client, route, what, function in _checks:
            result = {"client": client, "route": route, "what": what}
            try:
                result["detail"] = function()
            except Exception as error:  # whatever a client raises is its result
                result["fault"] = f"{type(error).__name__}: {error}"[:300]
            print(json.dumps(result), file=results, flush=True)


def expect(condition: bool, fault: str) -> None:
    if not condition:
        raise AssertionError(fault)


def same_vectors(got, side: str = "passages", of=None) -> str:
    """Compares vectors with the goldens of the texts at the positions of."""
    positions = range(len(TEXTS)) if of is None else of
    expect(len(got) == len(positions), f"{len(got)} vectors for {len(positions)} texts")
    worst = 0.0
    for row, position in zip(got, positions):
        wanted = GOLDEN[side][position]
        expect(len(row) == len(wanted), f"{len(row)} dimensions, want {len(wanted)}")
        worst = max(worst, *(abs(float(a) - b) for a, b in zip(row, wanted)))
    expect(worst <= TOLERANCE, f"off by {worst:.2g}, at most {TOLERANCE} is right")
    return f"{len(got)} vector{'s' * (len(got) > 1)}, off by ≤ {ceiling(worst)}"


def same_ranking(got, count: int = len(DOCUMENTS)) -> str:
    """Compares pairs of position and probability with the goldens."""
    order = [position for position, _ in got]
    expect(order == ORDER[:count], f"order {order}, want {ORDER[:count]}")
    worst = max(abs(score - 1 / (1 + math.exp(-GOLDEN["logits"][position]))) for position, score in got)
    expect(worst <= TOLERANCE, f"off by {worst:.2g}, at most {TOLERANCE} is right")
    return f"{len(got)} in order, off by ≤ {ceiling(worst)}"


def ceiling(difference: float) -> str:
    """The next power of ten, so that runs print the same."""
    return "1e-9" if difference <= 1e-9 else f"1e{math.ceil(math.log10(difference))}"


def refused(kind: type, says: str, call) -> str:
    """Calls what must raise an error of the client's own kind that says something."""
    try:
        call()
    except kind as error:
        expect(says in str(error), f"{kind.__name__} does not say {says!r}: {error}")
        return f"refused: {kind.__name__}, says {says!r}"
    raise AssertionError("was not refused")
