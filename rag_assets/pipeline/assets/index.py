"""Assets of the indexes: `chroma_index`, `bm25_index`, `index_meta`, and `examples`, questions that the
corpus can answer, for the page that asks.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Any

import dagster as dg
import numpy as np

from rag_assets.core.incremental import data_version, fingerprint, read_sealed
from rag_assets.core.kept import KeptFile
from rag_assets.core.paper_tables import PaperTable, quarantined_by
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns, read_provenance
from rag_assets.core.tables import PASSAGES, PROFILES, REFERENCES
from rag_assets.core.text.display import markdown_text
from rag_assets.engine import CODE_VERSION, open_engine
from rag_assets.evaluation.examples import (
    EXAMPLES_VERSION,
    answered_examples,
    drafted_questions,
    keyless,
    sampled_chunks,
    topics_of,
)
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.chunks import chunks, passages, profiles, references
from rag_assets.pipeline.assets.corpus import papers
from rag_assets.pipeline.assets.paper_tables import checksums
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    checked_asset,
    megabytes,
    progress,
    sealed_file,
)
from rag_assets.pipeline.assets.vectors import embeddings, passage_rows
from rag_assets.search.embedding.fastembed_model import open_sparse_vectors
from rag_assets.search.embedding.providers import embedder_facts
from rag_assets.search.embedding.vector_cache import (
    VectorCache,
)
from rag_assets.search.indexing.folders import (
    INDEX_PROMISES,
    META_PROMISES,
    FolderIndex,
    stage_index,
)
from rag_assets.search.indexing.protocols import (
    IndexManifest,
    IndexRow,
    Vectors,
    VectorStore,
    for_reading_only,
)
from rag_assets.search.indexing.published_set import is_newest, publish_set
from rag_assets.search.indexing.stores import vector_index, word_index

_LOADED_AT_ONCE = 1000


def _vector_index(
    settings: Settings,
    model: str,
    vectors_of: Callable[[Sequence[IndexRow]], Vectors] = for_reading_only,
) -> FolderIndex[VectorStore]:
    sparse = open_sparse_vectors(settings)
    if sparse is None:
        return vector_index(settings, model, vectors_of)
    return vector_index(
        settings,
        model,
        vectors_of,
        sparse.identity,
        lambda rows: sparse.cache.load([row.text for row in rows]),
    )


@checked_asset("index", INDEX_PROMISES, deps=[embeddings, passages], kinds={"chroma", "qdrant"})
def chroma_index(settings: dg.ResourceParam[Settings]) -> Outcome:
    """Finds passages by meaning: their vectors, cosine space, updated by difference.

    In Chroma (`data/index/chroma/`), the default store, or in the Qdrant that `indexing.qdrant`
    names.
    """
    paths = settings.paths
    facts = embedder_facts(settings.embedding, paths.models)

    def vectors_of(rows: Sequence[IndexRow]) -> Vectors:
        cache = VectorCache(KeptFile(paths.vectors), facts)
        vectors = np.empty((len(rows), facts.dimension), np.float32)
        for start in range(
            0, len(rows), _LOADED_AT_ONCE
        ):  # the vectors of a large corpus are not held twice
            some = rows[start : start + _LOADED_AT_ONCE]
            vectors[start : start + len(some)] = cache.load([row.embedded_text for row in some])
        return vectors

    index = _vector_index(settings, facts.identity, vectors_of)
    lost = {paper.paper_id for paper in quarantined_by(paths.vectors)}
    yield from _indexed("chroma_index", index, settings, lost)


@checked_asset("index", INDEX_PROMISES, deps=[passages], kinds={"tantivy"})
def bm25_index(settings: dg.ResourceParam[Settings]) -> Outcome:
    """Finds passages by words, in tantivy, stemmed, with their inner hyphens; `data/index/bm25/`."""
    yield from _indexed("bm25_index", word_index(settings), settings)


def _indexed(
    asset: str, target: FolderIndex[Any], settings: Settings, lost: Collection[str] = ()
) -> Outcome:
    """Stage a version of the index beside the published one, audit it, publish it. lost: papers
    that it leaves out."""
    paths = settings.paths
    made_of = checksums({paths.passages: PASSAGES})

    def follows_from() -> list[Any]:
        manifest = target.published()
        return [
            made_of,
            str(target),
            asdict(target.identity),
            manifest and asdict(manifest),
            sorted(lost),
        ]

    def make() -> Made:
        staged = stage_index(
            target, passage_rows(paths), lost=lost, report=progress(asset, "passages")
        )

        def publish() -> dict[str, Any]:
            written = staged.megabytes_written
            staged.publish()
            sizes = {"megabytes": megabytes(target.folder), "megabytes_written": written}
            return sizes | staged.plan.counts()

        return Made(
            staged.manifest.version,
            staged.manifest.n_indexed,
            check_all(INDEX_PROMISES, staged),
            publish,
            {"store": target.identity.kind, "place": str(target)},
        )

    yield from asset_step(
        target.folder, make, follows_from, settings=["indexing"], counted="passages"
    )


SEARCHED = [papers, chunks, passages, profiles, references, chroma_index, bm25_index]


@checked_asset(
    "index",
    META_PROMISES,
    deps=SEARCHED,
    kinds={"json"},
)
def index_meta(settings: dg.ResourceParam[Settings]) -> Outcome:
    """Whether both indexes belong together: what they hold and were made with;
    `data/cache/index_meta.json`. From here on questions are answered from all that was published
    before: `data/index/published_set/`."""
    path = settings.paths.index_meta

    def make() -> Made:
        meta = _index_facts(settings)
        checked = check_all(META_PROMISES, meta)
        content = {name: value for name, value in meta.items() if name != "problems"}
        facts = {"n_passages": content["n_passages"], "model": content["embedding_model"]}

        def publish() -> dict[str, int]:
            counts = sealed_file(path, content)()
            publish_set(settings)
            return counts

        return Made(content["version"], 1, checked, publish, facts)

    yield from asset_step(path, make, lambda: _meta_follows_from(settings), counted="files")


def _meta_follows_from(settings: Settings) -> list[Any] | None:
    """index_meta.json and everything that it follows from, as JSON values, without reading a table.
    None if the published set must be replaced."""
    if not is_newest(settings):
        return None
    paths = settings.paths
    vectors, words, made_with = _indexes_and_facts(settings)
    manifests = [asdict(kept) if (kept := index.manifest()) else None for index in (vectors, words)]
    return [
        read_sealed(paths.index_meta),
        checksums({paths.passages: PASSAGES}),
        made_with,
        manifests,
        settings.indexing.fingerprint(),
    ]


def _indexes_and_facts(
    settings: Settings,
) -> tuple[FolderIndex[VectorStore], FolderIndex[Any], dict[str, Any]]:
    """Both indexes, and the facts that are written with them: what they are made with, and the
    versions of the tables that are searched beside them."""
    paths = settings.paths
    facts = embedder_facts(settings.embedding, paths.models)
    vectors, words = _vector_index(settings, facts.identity), word_index(settings)
    profiles = PaperTable.published(paths.profiles, PROFILES)
    references = PaperTable.published(paths.references, REFERENCES)
    return (
        vectors,
        words,
        {
            "profiles": profiles.version,
            "references": references.version,
            "embedding_model": facts.identity,
            "dimension": facts.dimension,
            "max_tokens": facts.max_tokens,
            "tokenizer": read_provenance(paths.chunks).get("tokenizer"),
            vectors.identity.kind: asdict(vectors.identity),
            "bm25": asdict(words.identity),
        },
    )


def _index_facts(settings: Settings) -> dict[str, Any]:
    """Content of index_meta.json, and under "problems" the indexes that do not fit the passages."""
    table = read_columns(settings.paths.passages, ["passage_id", "paper_id", "row_hash"])
    ids, marks = table["passage_id"].to_pylist(), table["row_hash"].to_pylist()
    fingerprints = dict(zip(ids, marks, strict=True))
    vectors, words, made_with = _indexes_and_facts(settings)
    problems = []
    for asset, index in (("chroma_index", vectors), ("bm25_index", words)):
        wanted = IndexManifest.of(index.identity, fingerprints)
        if (manifest := index.manifest()) != wanted:
            problems.append({"index": asset, "found": str(manifest), "wanted": str(wanted)})
    version = data_version(fingerprints)
    without = published.without if (published := vectors.manifest()) else ()
    return {
        "version": fingerprint(
            version,
            made_with["profiles"],
            made_with["references"],
            made_with["embedding_model"],
            settings.indexing.fingerprint(),
            made_with["bm25"],
            *without,
        ),
        "passages": version,
        "n_passages": len(table),
        "n_papers": len(table["paper_id"].unique()),
        **made_with,
        "problems": problems,
    }


ASKED = [*SEARCHED, index_meta]
"""What the engine reads when it is asked."""


@checked_asset("index", deps=ASKED, kinds={"json"}, version=f"{EXAMPLES_VERSION}, {CODE_VERSION}")
def examples(
    settings: dg.ResourceParam[Settings], models: dg.ResourceParam[Connections]
) -> Outcome:
    """Questions of headings and tables that were asked and are answered, and topics of the titles;
    `data/cache/examples.json`. No model is asked to write or judge."""
    asked, path = keyless(settings), settings.paths.examples
    with open_engine(asked, models) as engine:

        def follows_from() -> list[Any]:
            return [engine.answers_version(), EXAMPLES_VERSION, read_sealed(path)]

        def make() -> Made:
            chunks = sampled_chunks(asked)
            content = {
                "topics": topics_of(asked, chunks),
                "questions": answered_examples(engine, drafted_questions(asked, chunks)),
            }
            shown = [f"- {markdown_text(one)}" for one in content["questions"]]
            return Made(
                fingerprint(content),
                len(content["questions"]),
                [],
                sealed_file(path, content),
                {"topics": ", ".join(content["topics"])},
                {"questions": "\n".join(shown) or "*none*"},
            )

        yield from asset_step(path, make, follows_from, models=models, counted="files")
