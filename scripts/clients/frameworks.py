"""The integrations of frameworks with the wire formats. Arguments: the server, the
goldens, the file for the results."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch a price list

import litellm
from checks import (DENSE, DOCUMENTS, ORDER, QUERY, QUERY_PREFIX, RERANKER, SERVER, TEXTS, check, expect, run_checks,
                    same_ranking, same_vectors)
from langchain_cohere import CohereRerank as LangChainRerank
from langchain_core.documents import Document
from langchain_openai import OpenAIEmbeddings
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
from llama_index.postprocessor.cohere_rerank import CohereRerank as LlamaIndexCohereRerank
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference as LlamaIndexRerank


@check("langchain-openai", "/v1/embeddings", "`OpenAIEmbeddings(check_embedding_ctx_length=False)`")
def _():
    client = OpenAIEmbeddings(model=DENSE, base_url=SERVER + "/v1", api_key="unused", check_embedding_ctx_length=False)
    same_vectors([client.embed_query(TEXTS[3])], of=[3])
    return same_vectors(client.embed_documents(TEXTS))


def langchain_rerank(top_n):
    return LangChainRerank(base_url=SERVER, cohere_api_key="unused", model=RERANKER, top_n=top_n)


@check("langchain-cohere", "/v2/rerank", "`CohereRerank.rerank`")
def _():
    answer = langchain_rerank(len(DOCUMENTS)).rerank(DOCUMENTS, QUERY)
    return same_ranking([(item["index"], item["relevance_score"]) for item in answer])


@check("langchain-cohere", "/v2/rerank", "`CohereRerank.compress_documents`, `top_n`")
def _():
    documents = [Document(page_content=text, metadata={"position": i}) for i, text in enumerate(DOCUMENTS)]
    answer = langchain_rerank(3).compress_documents(documents, QUERY)
    expect([d.page_content for d in answer] == [DOCUMENTS[i] for i in ORDER[:3]], "other texts came back")
    return same_ranking([(d.metadata["position"], d.metadata["relevance_score"]) for d in answer], 3)


@check("llama-index-embeddings-text-embeddings-inference", "/embed", "`TextEmbeddingsInference(query_instruction=…)`, texts and a query")
def _():
    # Left to itself it prefixes "Represent this question for …", which the model
    # was not trained with.
    client = TextEmbeddingsInference(model_name="BAAI/" + DENSE, base_url=SERVER, query_instruction=QUERY_PREFIX.strip())
    same_vectors([client.get_query_embedding(TEXTS[3])], "queries", of=[3])
    return same_vectors(client.get_text_embedding_batch(TEXTS))


def nodes():
    return [NodeWithScore(node=TextNode(text=text, id_=str(i)), score=0.5) for i, text in enumerate(DOCUMENTS)]


def node_ranking(reranker):
    return [(int(n.node.id_), n.score) for n in reranker.postprocess_nodes(nodes(), QueryBundle(QUERY))]


@check("llama-index-postprocessor-tei-rerank", "/rerank", "`TextEmbeddingInference`, `top_n`")
def _():
    return same_ranking(node_ranking(LlamaIndexRerank(base_url=SERVER, top_n=4)), 4)


@check("llama-index-postprocessor-cohere-rerank", "/v2/rerank", "`CohereRerank(base_url=SERVER)`, `top_n`")
def _():
    return same_ranking(node_ranking(LlamaIndexCohereRerank(base_url=SERVER, api_key="unused", model=RERANKER, top_n=4)), 4)


@check("litellm", "/v1/embeddings", "`embedding(\"openai/…\")`")
def _():
    answer = litellm.embedding(model="openai/" + DENSE, api_base=SERVER + "/v1", api_key="unused", input=TEXTS)
    return same_vectors([item["embedding"] for item in answer.data])


def litellm_rerank(provider, base, top_n):
    answer = litellm.rerank(model=f"{provider}/{RERANKER}", api_base=base, api_key="unused", query=QUERY,
                            documents=DOCUMENTS, top_n=top_n)
    return same_ranking([(item["index"], item["relevance_score"]) for item in answer.results], top_n)


@check("litellm", "/v2/rerank", "`rerank(\"cohere/…\")`, `top_n`")
def _():
    return litellm_rerank("cohere", SERVER, 3)


@check("litellm", "/v1/rerank", "`rerank(\"jina_ai/…\")`, `top_n`")
def _():
    return litellm_rerank("jina_ai", SERVER + "/v1/rerank", 3)


@check("litellm", "/rerank", "`rerank(\"huggingface/…\")`")
def _():
    return litellm_rerank("huggingface", SERVER, len(DOCUMENTS))


run_checks()
