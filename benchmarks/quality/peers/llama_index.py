"""LlamaIndex as its documentation recommends hybrid search: SentenceSplitter with its defaults, a
vector index and BM25, joined by QueryFusionRetriever without generated queries.

Source:
https://developers.llamaindex.ai/python/framework/integrations/retrievers/reciprocal_rerank_fusion
and .../relative_score_dist_fusion. Needs llama-index-core and llama-index-retrievers-bm25.
"""

from collections.abc import Sequence
from typing import Any

from benchmarks.quality.measures import Found
from benchmarks.quality.peers.base import Build, Peer, PeerVectors, SourceBlock, by_paper

FUSIONS = {"rrf": "reciprocal_rerank", "relative": "relative_score"}


class LlamaIndexPeer:
    """A fusion retriever over the texts of papers."""

    def __init__(self, retrievers: Sequence[Any], mode: str) -> None:
        self._retrievers, self._mode = list(retrievers), mode

    @classmethod
    def building(cls, mode: str) -> Build:
        """A builder of the peer with one mode of fusion. It raises ImportError where LlamaIndex is
        not installed."""

        def built(blocks: Sequence[SourceBlock], model: PeerVectors) -> Peer:
            return cls(_retrievers(blocks, model), mode)

        return built

    def search(self, question: str, limit: int) -> list[Found]:
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever

        for retriever in self._retrievers:
            retriever.similarity_top_k = limit
        fusion = QueryFusionRetriever(
            self._retrievers,
            llm=MockLLM(),
            mode=self._mode,
            similarity_top_k=limit,
            num_queries=1,
            use_async=False,
        )
        return [_found(one.node) for one in fusion.retrieve(question)]


def _retrievers(blocks: Sequence[SourceBlock], model: PeerVectors) -> list[Any]:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.schema import Document
    from llama_index.retrievers.bm25 import BM25Retriever

    class SameWeights(BaseEmbedding):  # type: ignore[misc]  # the base is untyped where the library is absent
        """The project's embedding model."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return [float(number) for number in model.of_question(query)]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [[float(number) for number in vector] for vector in model.of(texts)]

    documents = []
    for paper_id, paper in by_paper(blocks).items():
        for page, text in _by_page(paper):
            documents.append(
                Document(text=text, metadata={"file_name": paper_id, "page_label": str(page or "")})
            )
    nodes = SentenceSplitter().get_nodes_from_documents(documents)
    index = VectorStoreIndex(nodes, embed_model=SameWeights(embed_batch_size=512))
    return [index.as_retriever(), BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=10)]


def _by_page(paper: Sequence[SourceBlock]) -> list[tuple[int | None, str]]:
    """One document per page, as LlamaIndex's reader of PDFs makes them; one in all for a text
    without pages."""
    pages: dict[int | None, list[str]] = {}
    for block in paper:
        pages.setdefault(block.page_start, []).append(block.text)
    return [(page, "\n\n".join(texts)) for page, texts in pages.items()]


def _found(node: Any) -> Found:
    page = int(node.metadata["page_label"]) if node.metadata["page_label"] else None
    return Found(node.get_content(), node.metadata["file_name"], page, page)
