"""The clients of the vendors whose wire formats the server speaks. Arguments: the
server, the goldens, the file for the results."""

import base64
import json
import math
import struct
import urllib.request

import cohere
import huggingface_hub
import openai
from checks import (DENSE, DOCUMENTS, GOLDEN, QUERY, RERANKER, SERVER, SPARSE, TEXTS, check, expect, refused, run_checks,
                    same_ranking, same_vectors)

EMBEDDINGS, MODELS = "/v1/embeddings", "/v1/models"
openai_client = openai.OpenAI(base_url=SERVER + "/v1", api_key="unused", max_retries=0)
cohere_v1 = cohere.Client(api_key="unused", base_url=SERVER)
cohere_v2 = cohere.ClientV2(api_key="unused", base_url=SERVER)


def embed(texts=TEXTS, model=DENSE, **options):
    return openai_client.embeddings.create(model=model, input=texts, **options)


def vectors(answer):
    expect([item.index for item in answer.data] == list(range(len(answer.data))), "index is not 0…n−1")
    return [item.embedding for item in answer.data]


@check("openai", EMBEDDINGS, "a list, as the client asks by default")
def _():
    raw = openai_client.embeddings.with_raw_response.create(model=DENSE, input=TEXTS)
    asked = json.loads(raw.http_request.content)["encoding_format"]
    answer = raw.parse()
    expect(answer.usage.prompt_tokens == answer.usage.total_tokens > len(TEXTS), f"usage {answer.usage}")
    return f"asks {asked}: {same_vectors(vectors(answer))}"


@check("openai", EMBEDDINGS, "`encoding_format=\"float\"`; the same bits as base64")
def _():
    floats = vectors(embed(encoding_format="float"))
    packed = vectors(embed(encoding_format="base64"))  # as sent, when asked for by name
    expect([struct.pack("<384f", *row) for row in floats] == [base64.b64decode(row) for row in packed], "other bits")
    return same_vectors(floats)


@check("openai", EMBEDDINGS, "one text as a bare string")
def _():
    return same_vectors(vectors(embed(TEXTS[2])), of=[2])


@check("openai", EMBEDDINGS, "`dimensions` of the model; others are refused")
def _():
    same_vectors(vectors(embed(dimensions=384)))
    return refused(openai.BadRequestError, "384", lambda: embed(dimensions=64))


@check("openai", EMBEDDINGS, "`input_type: query` in `extra_body`")
def _():
    return same_vectors(vectors(embed(extra_body={"input_type": "query"})), "queries")


@check("openai", EMBEDDINGS, "nulls and fields that proxies add")
def _():
    extra = {"user": None, "dimensions": None, "metadata": {"x": 1}, "proxy_server_request": {"url": "u"}}
    return same_vectors(vectors(embed(extra_body=extra)))


@check("openai", EMBEDDINGS, "an unknown model")
def _():
    return refused(openai.NotFoundError, DENSE, lambda: embed(model="text-embedding-3-small"))


@check("openai", EMBEDDINGS, "the reranker's name")
def _():
    return refused(openai.BadRequestError, "cross-encoder", lambda: embed(model=RERANKER))


@check("openai", EMBEDDINGS, "token ids, as LangChain sends unless told not to")
def _():
    return refused(openai.BadRequestError, "check_embedding_ctx_length=False", lambda: embed([[101, 1037, 102]]))


@check("openai", MODELS, "`models.list()`, `models.retrieve()`")
def _():
    names = [model.id for model in openai_client.models.list()]
    expect(set(names) >= {DENSE, SPARSE, RERANKER}, f"models {names}")
    expect(openai_client.models.retrieve(DENSE).id == DENSE, "another model came back")
    refused(openai.NotFoundError, DENSE, lambda: openai_client.models.retrieve("absent"))
    return f"{len(names)} models; an unknown one is refused with their names"


def cohere_ranking(answer):
    return [(item.index, item.relevance_score) for item in answer.results]


@check("cohere", "/v1/rerank", "`Client.rerank`, no model named")
def _():
    return same_ranking(cohere_ranking(cohere_v1.rerank(query=QUERY, documents=DOCUMENTS)))


@check("cohere", "/v1/rerank", "documents as objects, `top_n`, `return_documents`")
def _():
    objects = [{"text": text, "title": str(i)} for i, text in enumerate(DOCUMENTS)]
    answer = cohere_v1.rerank(model=RERANKER, query=QUERY, documents=objects, top_n=3, return_documents=True)
    for item in answer.results:
        expect(item.document.text == DOCUMENTS[item.index], f"document {item.document} at {item.index}")
    return same_ranking(cohere_ranking(answer), 3)


@check("cohere", "/v1/rerank", "`max_chunks_per_doc`, `rank_fields`; no documents asked for")
def _():
    answer = cohere_v1.rerank(model=RERANKER, query=QUERY, documents=DOCUMENTS, max_chunks_per_doc=4, rank_fields=["text"])
    expect(all(item.document is None for item in answer.results), "documents came unasked")
    return same_ranking(cohere_ranking(answer))


@check("cohere", "/v2/rerank", "`ClientV2.rerank`")
def _():
    return same_ranking(cohere_ranking(cohere_v2.rerank(model=RERANKER, query=QUERY, documents=DOCUMENTS)))


@check("cohere", "/v2/rerank", "`top_n`, `max_tokens_per_doc`")
def _():
    answer = cohere_v2.rerank(model=RERANKER, query=QUERY, documents=DOCUMENTS, top_n=2, max_tokens_per_doc=4096)
    return same_ranking(cohere_ranking(answer), 2)


@check("cohere", "/v2/rerank", "each document alone scores as in the list")
def _():
    scores = [cohere_v2.rerank(model=RERANKER, query=QUERY, documents=[text]).results[0].relevance_score for text in DOCUMENTS]
    return same_ranking(sorted(enumerate(scores), key=lambda pair: -pair[1]))


@check("cohere", "/v2/rerank", "an unknown model")
def _():
    return refused(cohere.NotFoundError, RERANKER,
                   lambda: cohere_v2.rerank(model="rerank-v3.5", query=QUERY, documents=DOCUMENTS))


@check("huggingface_hub", "/embed", "`InferenceClient(SERVER/embed).feature_extraction`, a list")
def _():
    client = huggingface_hub.InferenceClient(SERVER + "/embed")
    return same_vectors(client.feature_extraction(TEXTS, normalize=True, truncate=True))


@check("huggingface_hub", "/embed", "one text, `prompt_name=\"query\"`")
def _():
    client = huggingface_hub.InferenceClient(SERVER + "/embed")
    return same_vectors(client.feature_extraction(TEXTS[0], prompt_name="query"), "queries", of=[0])


@check("huggingface_hub", "/embed", "`truncate=False` with a text that is too long")
def _():
    client = huggingface_hub.InferenceClient(SERVER + "/embed")
    return refused(huggingface_hub.errors.HfHubHTTPError, "512", lambda: client.feature_extraction(TEXTS[1], truncate=False))


def post(path, body):
    request = urllib.request.Request(SERVER + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def same_weights(got):
    for position, (vector, wanted) in enumerate(zip(got, GOLDEN["weights"], strict=True)):
        expect({str(i) for i in vector} == set(wanted), f"text {position} has other entries")
        worst = max(abs(vector[i] - wanted[str(i)]) for i in vector)
        expect(worst <= 1e-4, f"text {position} is off by {worst:.2g}")
    return f"{len(got)} vectors with the same entries, weights off by ≤ 1e-4"


@check("", "/embed_sparse", "the form of text-embeddings-inference, for which no client is known")
def _():
    return same_weights([{e["index"]: e["value"] for e in vector} for vector in post("/embed_sparse", {"inputs": TEXTS})])


@check("", "/v1/sparse-embeddings", "this project's own form")
def _():
    data = post("/v1/sparse-embeddings", {"input": TEXTS, "model": SPARSE})["data"]
    return same_weights([dict(zip(item["indices"], item["values"], strict=True)) for item in data])


@check("", "/rerank", "`raw_scores`, `return_text`, `truncate`")
def _():
    answer = post("/rerank", {"query": QUERY, "texts": DOCUMENTS, "raw_scores": True, "return_text": True, "truncate": True})
    expect(all(item["text"] == DOCUMENTS[item["index"]] for item in answer), "other texts came back")
    return "logits: " + same_ranking([(item["index"], 1 / (1 + math.exp(-item["score"]))) for item in answer])


@check("", "/tokenize", "ids and places of all tokens")
def _():
    got = [[[t["id"], t["start"], t["stop"]] for t in tokens] for tokens in post("/tokenize", {"inputs": TEXTS})]
    expect(got == GOLDEN["tokens"], "other tokens")
    return f"{sum(map(len, got))} tokens, equal"


@check("", "/info", "the fields of text-embeddings-inference")
def _():
    with urllib.request.urlopen(SERVER + "/info") as answer:
        info = json.load(answer)
    expect(info["model_id"] == DENSE and info["max_input_length"] == 512, f"info {info}")
    return f"model {info['model_id']}, at most {info['max_client_batch_size']} texts"


@check("", "/health", "while it serves")
def _():
    with urllib.request.urlopen(SERVER + "/health") as answer:
        return f"status {answer.status}"


run_checks()
