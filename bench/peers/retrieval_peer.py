"""bm25s and tantivy over terms that braid's analyser made.

retrieval_peer.py build tantivy FOLDER    makes an index of FOLDER/terms.txt
retrieval_peer.py serve PEER FOLDER       answers jobs

A job is a line {"queries": [[term]], "k": int}, its outcome a line
{"seconds": [float], "results": [[int]]}, one of each a query. What a peer needs
to know of a query before it can search (numbers of terms, query objects) is made
outside of the time.
"""

import json
import os
import shutil
import sys
import time
from pathlib import Path


def tantivy_schema():
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="terms", index_option="freq")
    builder.add_unsigned_field("number", stored=True, indexed=False)
    return builder.build()


def register(index):
    import tantivy

    index.register_tokenizer("terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


def build_tantivy(folder):
    import tantivy

    target = folder / "tantivy"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    index = register(tantivy.Index(tantivy_schema(), path=str(target)))
    # One thread and much memory: as few segments as there can be.
    writer = index.writer(heap_size=2_000_000_000, num_threads=1)
    with open(folder / "terms.txt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            writer.add_document(tantivy.Document(body=line.rstrip("\n"), number=number))
    writer.commit()
    writer.wait_merging_threads()


def serve_tantivy(folder):
    import tantivy

    schema = tantivy_schema()
    index = register(tantivy.Index(schema, path=str(folder / "tantivy"), reuse=True))
    searcher = index.searcher()
    print("tantivy:", searcher.num_docs, "documents in", searcher.num_segments, "segments", file=sys.stderr)

    def prepare(terms):
        should = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", t, index_option="freq")) for t in terms]
        return tantivy.Query.boolean_query(should)

    def search(query, k):
        return searcher.search(query, limit=k, count=False)  # counting would keep it from skipping

    def numbers(found):
        return [searcher.doc(address)["number"][0] for _, address in found.hits]

    return prepare, search, numbers


def serve_bm25s(folder):
    import bm25s

    index = bm25s.BM25.load(str(folder / "bm25s"), show_progress=False)
    count = index.scores["num_docs"]

    def prepare(terms):
        return [index.get_tokens_ids(terms)]

    def search(query, k):
        if not query[0]:
            return None
        return index.retrieve(query, k=min(k, count), show_progress=False)

    def numbers(found):
        if found is None:
            return []
        return [int(d) for d, score in zip(found.documents[0], found.scores[0]) if score > 0]

    return prepare, search, numbers


def serve(prepare, search, numbers):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        job = json.loads(line)
        seconds, results = [], []
        for terms in job["queries"]:
            query = prepare(terms)
            begun = time.perf_counter()
            found = search(query, job["k"])
            seconds.append(time.perf_counter() - begun)
            results.append(numbers(found))
        json.dump({"seconds": seconds, "results": results}, out)
        out.write("\n")
        out.flush()


if __name__ == "__main__":
    action, peer, folder = sys.argv[1:]
    if action == "build":
        {"tantivy": build_tantivy}[peer](Path(folder))
    else:
        serve(*{"tantivy": serve_tantivy, "bm25s": serve_bm25s}[peer](Path(folder)))
