"""How often the answer is in what retrieval returns: fusions and single indexes, side by side in one run.

    python benchmarks/retrieval_quality.py CORPORA [--work FOLDER]

CORPORA holds `qa/covidqa` (papers, questions with an answer span) and `qa/cranfield` (abstracts, queries, judgements);
a table stays blank where its corpus is absent. The pipeline's own parser, chunker, model, indexes and packing are
used, with their default settings. Indexes and vectors are kept in FOLDER, which makes a second run fast.

COVID-QA, all papers in one index. h@1, h@5: share of questions whose answer stands in the text of one of the best 1 or
5 chunks; in 6000: in the contexts packed into 6,000 tokens. Case and white space are folded. "literal" stops there;
the other columns also drop hyphens inside words, because the parser joins words that a line end parts, while the
answers, cut from the raw text, still have them parted. Cranfield: nDCG@10.
"""

import argparse
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rag_assets.chunking.chunker import chunk_paper
from rag_assets.chunking.passages import cut_passages
from rag_assets.domain import Block, BlockKind, Chunk, Document, Passage, Source
from rag_assets.embedding.base import Embedder, Vectors
from rag_assets.embedding.missing_vectors import embed_missing
from rag_assets.embedding.providers import embedder_facts, open_embedder
from rag_assets.embedding.vector_cache import VectorCache
from rag_assets.indexing.builder import update_index
from rag_assets.indexing.chroma import ChromaFiles, ChromaStore
from rag_assets.indexing.folders import FolderTarget
from rag_assets.indexing.protocols import IndexRow, Scope, Scored
from rag_assets.indexing.tantivy_index import TantivyFiles, TantivyIndex
from rag_assets.parsing.files.raw import RawFile
from rag_assets.parsing.text.document import parse_text
from rag_assets.retrieval.library import Library
from rag_assets.retrieval.search import DenseSearch, Searcher
from rag_assets.settings import Settings
from rag_assets.table_files import write_table
from rag_assets.tables import CHUNKS, PASSAGES, chunk_row, passage_row, to_table
from rag_assets.text.tokens import token_counter

BUDGET_TOKENS = 6000
HYPHEN_IN_WORD = re.compile(r"(?<=\w)- ?(?=\w)")
COUNTER = token_counter("wordpiece")


@dataclass(frozen=True)
class Contender:
    """One way to search."""

    name: str
    retrieval: dict[str, Any]
    indexes: str = "both"


CONTENDERS = (
    Contender("words alone (BM25)", {}, "words"),
    Contender("vectors alone", {}, "vectors"),
    Contender("convex, vectors 0.3", {"dense_weight": 0.3}),
    Contender("convex, vectors 0.4", {"dense_weight": 0.4}),
    Contender("convex, vectors 0.5", {"dense_weight": 0.5}),
    Contender("reciprocal rank, k 60", {"fusion": "rrf"}),
    Contender("rank blend, 1.0 and 0.5", {"fusion": "rank_blend"}),
    Contender("convex 0.5, no neighbours", {"dense_weight": 0.5, "expanded_hits": 0}),
    Contender("convex 0.5, every hit with neighbours", {"dense_weight": 0.5, "expanded_hits": 1000}),
)


class RememberedEmbedder:
    """Embeds a question once for all contenders."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}
        self.identity = embedder.identity
        self.facts = embedder.facts
        self.count_tokens = embedder.count_tokens
        self.embed_passages = embedder.embed_passages
        self.request_sizes = embedder.request_sizes

    def embed_query(self, text: str) -> Vectors:
        if text not in self._vectors:
            self._vectors[text] = self._embedder.embed_query(text)
        return self._vectors[text]


class RememberedStore:
    """Searches for a question once for all contenders."""

    def __init__(self, store: ChromaStore) -> None:
        self._store = store
        self._found: dict[object, list[Scored]] = {}
        self._cosines: dict[object, dict[str, float]] = {}
        self.close = store.close

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        key = (question.tobytes(), limit)
        if key not in self._found:
            self._found[key] = self._store.search(question, limit, scope)
        return self._found[key]

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        key = (question.tobytes(), tuple(passage_ids))
        if key not in self._cosines:
            self._cosines[key] = self._store.cosines(question, passage_ids)
        return self._cosines[key]


@dataclass(frozen=True)
class Collection:
    """Papers chunked, embedded and indexed."""

    library: Library
    dense: DenseSearch
    words: TantivyIndex

    def searcher(self, contender: Contender, settings: Settings) -> Searcher:
        return Searcher(
            self.library,
            None if contender.indexes == "words" else self.dense,
            None if contender.indexes == "vectors" else self.words,
            settings.retrieval.model_copy(update=contender.retrieval),
            COUNTER,
        )


def index_papers(papers: Sequence[Document], folder: Path, settings: Settings) -> Collection:
    """What the pipeline does with parsed papers, below `folder`."""
    models = folder.parent / "models"
    embedder = open_embedder(settings.embedding, models, n_threads=os.cpu_count() or 1)
    chunks: list[Chunk] = []
    passages: list[Passage] = []
    for paper in papers:
        cut = chunk_paper(paper.paper_id, paper.blocks, "", "text", settings.chunking, COUNTER, "")
        chunks += cut
        passages += cut_passages(cut, settings.passages, embedder.count_tokens, embedder.facts.max_tokens)
    cache = VectorCache(folder.parent / "embeddings", embedder_facts(settings.embedding, models))
    texts = {cache.key_of(passage.text): passage.text for passage in passages}
    embed_missing(cache, embedder, texts, batch_size=64)
    rows = [IndexRow.of(passage) for passage in passages]
    vectors = ChromaFiles(
        settings.indexing, embedder.identity, lambda some: cache.load([cache.key_of(row.text) for row in some])
    )
    update_index(FolderTarget(folder / "chroma", vectors), rows)
    update_index(FolderTarget(folder / "bm25", TantivyFiles()), rows)
    store = RememberedStore(ChromaStore.open(folder / "chroma"))
    return Collection(
        published_library(chunks, passages, folder),
        DenseSearch(store, RememberedEmbedder(embedder)),
        TantivyIndex.open(folder / "bm25"),
    )


def published_library(chunks: Sequence[Chunk], passages: Sequence[Passage], folder: Path) -> Library:
    """The tables of these chunks and passages, written below `folder`."""
    chunks_file, passages_file = folder / "chunks.parquet", folder / "passages.parquet"
    write_table(to_table([chunk_row(chunk) for chunk in chunks], CHUNKS), chunks_file, {})
    write_table(to_table([passage_row(passage, "") for passage in passages], PASSAGES), passages_file, {})
    return Library(chunks_file, passages_file)


def covidqa(corpus: Path, work: Path, settings: Settings) -> Iterator[str]:
    papers = list(covid_papers(corpus / "papers", work / "covidqa" / "texts", settings))
    collection = index_papers(papers, work / "covidqa", settings)
    questions = json_lines(corpus / "questions.jsonl")
    n_held = [
        sum(fold(one["answer_text"]) in in_papers[str(one["article_id"])] for one in questions)
        for fold in FOLDS
        for in_papers in [{paper.paper_id: fold(paper.text) for paper in papers}]
    ]
    yield (
        f"COVID-QA: {len(papers)} papers, {collection.library.n_chunks} chunks, "
        f"{collection.library.n_passages} passages, {len(questions)} questions "
        f"({n_held[0]} answers stand in the parsed text, {n_held[1]} literally)\n"
    )
    yield "| | h@1 | h@5 | in 6000 | h@1 literal | h@5 literal | in 6000 literal |\n|---|" + "---:|" * 6
    for contender in CONTENDERS:
        searcher = collection.searcher(contender, settings)
        found = [answer_found(searcher, one["question"], one["answer_text"]) for one in questions]
        shares = [sum(column) / len(questions) for column in zip(*found, strict=True)]
        yield f"| {contender.name} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"


def answer_found(searcher: Searcher, question: str, answer: str) -> list[bool]:
    """Whether the answer is in the first chunk, in the first five, and in the packed contexts; by each fold."""
    ranking = searcher.rank(question)
    chunks = [hit.chunk.text for hit in searcher.hits(ranking, 5)]
    contexts, _ = searcher.contexts(ranking, BUDGET_TOKENS)
    if (n_tokens := sum(context.n_tokens for context in contexts)) > BUDGET_TOKENS:
        raise AssertionError(f"{n_tokens} tokens were packed")
    return [
        any(fold(answer) in fold(text) for text in texts)
        for fold in FOLDS
        for texts in (chunks[:1], chunks, [context.text for context in contexts])
    ]


def covid_papers(folder: Path, texts: Path, settings: Settings) -> Iterator[Document]:
    texts.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.json")):
        paper_id = path.stem
        text_file = texts / f"{paper_id}.txt"
        text_file.write_text(json.loads(path.read_bytes())["text"], "utf-8")
        yield parse_text(RawFile(paper_id, text_file.name, text_file.read_bytes()), settings.parsing)


def cranfield(corpus: Path, work: Path, settings: Settings) -> Iterator[str]:
    import ir_measures

    documents = [one for one in json_lines(corpus / "docs.jsonl") if one["text"].strip()]
    papers = [
        Document(one["id"], one["title"], Source.TEXT, "", (Block(BlockKind.PARAGRAPH, one["text"]),))
        for one in documents
    ]
    collection = index_papers(papers, work / "cranfield", settings)
    queries = json_lines(corpus / "queries.jsonl")
    judged = [line.split("\t") for line in (corpus / "qrels.tsv").read_text("utf-8").splitlines()[1:]]
    wanted = [ir_measures.Qrel(query, document, min(1, int(grade))) for query, document, grade in judged]
    yield f"\nCranfield: {len(papers)} abstracts, {collection.library.n_passages} passages, {len(queries)} queries\n"
    yield "| | nDCG@10 |\n|---|---:|"
    for contender in CONTENDERS:
        if "expanded_hits" in contender.retrieval:
            continue
        searcher = collection.searcher(contender, settings)
        run = [
            ir_measures.ScoredDoc(query["id"], paper, -float(rank))
            for query in queries
            for rank, paper in enumerate(first_papers(searcher, query["text"], 10))
        ]
        score = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], wanted, run)[ir_measures.nDCG @ 10]
        yield f"| {contender.name} | {score:.3f} |"


def first_papers(searcher: Searcher, query: str, n_papers: int) -> list[str]:
    ranking = searcher.rank(query)
    papers = (passage.paper_id for passage in searcher.library.passages([one.place for one in ranking]))
    return list(dict.fromkeys(papers))[:n_papers]


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@cache
def literal(text: str) -> str:
    return " ".join(text.casefold().split())


@cache
def without_hyphens(text: str) -> str:
    return HYPHEN_IN_WORD.sub("", literal(text))


FOLDS = (without_hyphens, literal)


def tables(corpora: Path, work: Path) -> Iterator[str]:
    settings = Settings()
    measured: dict[str, Callable[[Path, Path, Settings], Iterator[str]]] = {"covidqa": covidqa, "cranfield": cranfield}
    for name, measure in measured.items():
        corpus = corpora / "qa" / name
        if corpus.is_dir():
            yield from measure(corpus, work, settings)
        else:
            yield f"{name}: blank, {corpus} is absent"
    yield f"\n{settings.embedding.model}, passages of {settings.passages.target_tokens} tokens; " + ", ".join(
        f"{package} {version(package)}" for package in ("chromadb", "tantivy", "fastembed", "onnxruntime")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for line in tables(given.corpora, given.work or Path(temporary)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
