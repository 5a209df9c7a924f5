"""Assets from vectors to indexes: `embeddings`, `chroma_index`, `bm25_index`, `index_meta`."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import dagster as dg
import numpy as np

from rag_assets.core.incremental import data_version, fingerprint, read_json, staging
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import read_columns, read_provenance
from rag_assets.core.tables import fingerprints_by
from rag_assets.core.workforce.seam import Workforce
from rag_assets.hosted.connections import Connections
from rag_assets.parsing.removal import is_recent
from rag_assets.pipeline.assets.chunks import passages, profiles
from rag_assets.pipeline.assets.publishing import (
    Outcome,
    materialized,
    progress,
    specs,
    usage_facts,
    write_audit_publish,
)
from rag_assets.pipeline.assets.references import references
from rag_assets.search.embedding.hosted_models import REQUEST_VERSION, is_hosted
from rag_assets.search.embedding.local_model import BUILDER_VERSION
from rag_assets.search.embedding.missing_vectors import (
    EMBEDDING_BATCH,
    EMBEDDING_PROMISES,
    embed_missing,
    store_missing_tokens,
    stores_tokens,
    without_unit_vector,
)
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets.search.embedding.sparse_vectors import open_sparse_vectors
from rag_assets.search.embedding.token_store import TokenStore
from rag_assets.search.embedding.token_vectors import open_token_encoder
from rag_assets.search.embedding.vector_cache import (
    MadeOfTexts,
    VectorCache,
    note_papers,
    prune_other_models,
    vector_file,
)
from rag_assets.search.embedding.work import embedding_in, encoding_in
from rag_assets.search.indexing.builder import INDEX_PROMISES, META_PROMISES, stage_index
from rag_assets.search.indexing.protocols import (
    COLUMNS,
    Index,
    IndexManifest,
    IndexRow,
    SparseSource,
    Vectors,
    index_rows,
)
from rag_assets.search.indexing.stores import vector_index, word_index


@dg.asset(
    group_name="index",
    deps=[passages],
    check_specs=specs("embeddings", EMBEDDING_PROMISES),
    output_required=False,
    code_version=f"model builder {BUILDER_VERSION}, requests {REQUEST_VERSION}",
    kinds={"onnx"},
)
def embeddings(
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
    workforce: dg.ResourceParam[Workforce],
) -> Outcome:
    """One vector per passage, kept by content; a finished batch is never repeated; `data/cache/vectors.sqlite3`.

    The tokens of Google's models are estimated: its API reports none for embeddings.
    """
    paths = settings.paths
    items = _rows(paths)
    file = vector_file(paths.vectors)
    cache = VectorCache(file, embedder_facts(settings.embedding, paths.models))
    embedded = {item.passage_id: item.embedded_text for item in items}
    passages = {item.passage_id: item.text for item in items}
    texts = dict.fromkeys(embedded.values())
    tokens = TokenStore(file, open_token_encoder(settings.embedding, paths.models).identity)
    with_tokens = list(passages.values()) if stores_tokens(settings.embedding) else []
    sparse = open_sparse_vectors(settings)
    note_papers(
        file,
        {cache: _by_paper(items, embedded)} | ({sparse.cache: _by_paper(items, passages)} if sparse else {}),
    )
    spent_before = models.budget.spent
    embedder = open_embedder(settings.embedding, paths.models, connections=models)
    embed = None
    if not is_hosted(settings.embedding.model):
        embed = embedding_in(workforce, settings.embedding, paths.models, embedder.identity)
    report_progress = progress("embeddings", "passages")
    n_with_tokens = store_missing_tokens(
        tokens,
        encoding_in(workforce, settings.embedding, paths.models),
        cache,
        with_tokens,
        batch_size=EMBEDDING_BATCH,
        report=progress("embeddings", "passages with token vectors"),
    )
    run = embed_missing(cache, embedder, texts, batch_size=EMBEDDING_BATCH, embed=embed, report=report_progress)
    workforce.close()  # each of its processes holds the model, and no later stage needs one
    spent = models.budget.since(spent_before)
    n_sparse = sparse.embed(passages.values(), batch_size=EMBEDDING_BATCH, report=report_progress) if sparse else 0
    n_made = n_with_tokens + run.n_embedded

    def publish() -> int:
        if is_recent(paths):
            return 0
        n_removed = cache.keep_only(texts)
        tokens.keep_only(with_tokens)
        if sparse:
            sparse.cache.keep_only(passages.values())
        in_use: list[MadeOfTexts[Any]] = [cache, tokens, *([sparse.cache] if sparse else [])]
        prune_other_models(file, in_use, {item.paper_id for item in items})
        return n_removed

    def report(n_removed: int) -> dg.MaterializeResult[Any]:
        identity = f"{cache.identity} {sparse.identity}" if sparse else cache.identity
        return materialized(
            version=data_version({cache.key_of(text): identity for text in texts}),
            counts={
                "n_added": n_made,
                "n_changed": 0,
                "n_removed": n_removed,
                "n_unchanged": len(texts) - n_made,
            },
            counted="passages",
            n_rows=len(texts),
            path=file.path,
            settings={"embedding": settings.embedding},
            facts={
                "model": cache.facts.identity,
                "dimension": cache.facts.dimension,
                "n_embedded": n_made,
                "n_sparse_vectors_made": n_sparse,
                "vectors_per_s": run.vectors_per_s,
                "seconds": run.seconds,
            }
            | usage_facts(spent),
        )

    yield from write_audit_publish(
        check_all(EMBEDDING_PROMISES, without_unit_vector(cache, embedded)), publish=publish, report=report
    )


def _sparse_source(settings: Settings) -> SparseSource | None:
    sparse = open_sparse_vectors(settings)
    if sparse is None:
        return None
    return SparseSource(sparse.identity, lambda rows: sparse.cache.load([row.text for row in rows]))


def _rows(paths: Paths) -> list[IndexRow]:
    """The rows of all published passages."""
    return index_rows(read_columns(paths.passages, COLUMNS))


def _by_paper(rows: Sequence[IndexRow], of_passage: Mapping[str, str]) -> dict[str, list[str]]:
    """The values of `of_passage`, by paper."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[row.paper_id].append(of_passage[row.passage_id])
    return found


@dg.asset(
    group_name="index",
    deps=[embeddings],
    metadata={"also_reads": "passages"},
    check_specs=specs("chroma_index", INDEX_PROMISES),
    output_required=False,
    kinds={"chroma", "lance", "qdrant"},
)
def chroma_index(settings: dg.ResourceParam[Settings]) -> Outcome:
    """The vectors, cosine space, updated by difference: in Chroma (`data/index/chroma/`), the default store, in
    Lance (`data/index/lance/`), or in the Qdrant that `indexing.qdrant` names.
    """
    paths = settings.paths
    facts = embedder_facts(settings.embedding, paths.models)

    def vectors_of(rows: Sequence[IndexRow]) -> Vectors:
        return np.stack(VectorCache(vector_file(paths.vectors), facts).load([row.embedded_text for row in rows]))

    index = vector_index(settings, facts.identity, vectors_of, _sparse_source(settings))
    yield from _indexed("chroma_index", index, settings)


@dg.asset(
    group_name="index",
    deps=[passages],
    check_specs=specs("bm25_index", INDEX_PROMISES),
    output_required=False,
    kinds={"tantivy"},
)
def bm25_index(settings: dg.ResourceParam[Settings]) -> Outcome:
    """The words in tantivy, stemmed, with their inner hyphens; `data/index/bm25/`."""
    yield from _indexed("bm25_index", word_index(settings), settings)


def _indexed(asset: str, target: Index[Any], settings: Settings) -> Outcome:
    """Stage a version of the index beside the published one, audit it, publish it."""
    staged = stage_index(target, _rows(settings.paths), report=progress(asset, "passages"))
    yield from write_audit_publish(
        check_all(INDEX_PROMISES, staged),
        publish=staged.publish,
        report=lambda _: materialized(
            version=staged.manifest.version,
            counts=staged.plan.counts(),
            counted="passages",
            n_rows=staged.manifest.n_passages,
            path=target.folder,
            settings={"indexing": settings.indexing},
            facts={"store": target.identity.kind, "place": str(target)},
        ),
    )


@dg.asset(
    group_name="index",
    deps=[profiles, references, chroma_index, bm25_index],
    metadata={"also_reads": "chunks, passages"},
    check_specs=specs("index_meta", META_PROMISES),
    output_required=False,
    kinds={"json"},
)
def index_meta(settings: dg.ResourceParam[Settings]) -> Outcome:
    """What the two indexes hold and were made with, in one place; `data/cache/index_meta.json`."""
    paths = settings.paths
    meta = _index_facts(settings)
    content = {key: value for key, value in meta.items() if key != "problems"}
    is_same = read_json(paths.index_meta) == content
    with staging() as staged:
        staged.put(paths.index_meta, json.dumps(content, indent=2).encode() + b"\n")
        yield from write_audit_publish(
            check_all(META_PROMISES, meta),
            publish=staged.publish,
            report=lambda _: materialized(
                version=content["version"],
                counts={"n_added": 0, "n_changed": int(not is_same), "n_removed": 0, "n_unchanged": int(is_same)},
                counted="files",
                n_rows=1,
                path=paths.index_meta,
                facts={"n_passages": content["n_passages"], "model": content["embedding_model"]},
            ),
        )


def _index_facts(settings: Settings) -> dict[str, Any]:
    """Content of index_meta.json, and under "problems" the indexes that do not fit the passages."""
    paths = settings.paths
    facts = embedder_facts(settings.embedding, paths.models)
    table = read_columns(paths.passages, ["passage_id", "paper_id", "row_hash"])
    fingerprints = dict(zip(table["passage_id"].to_pylist(), table["row_hash"].to_pylist(), strict=True))
    vectors = vector_index(settings, facts.identity, sparse=_sparse_source(settings))
    words = word_index(settings)
    problems = []
    for asset, found, identity in (
        ("chroma_index", vectors.manifest(), vectors.identity),
        ("bm25_index", words.manifest(), words.identity),
    ):
        wanted = IndexManifest.of(identity, fingerprints)
        if found != wanted:
            problems.append({"index": asset, "found": str(found), "wanted": str(wanted)})
    version = data_version(fingerprints)
    profiles, cited = (
        data_version(fingerprints_by(read_columns(path, ["paper_id", "fingerprint"]), "paper_id"))
        for path in (paths.profiles, paths.references)
    )
    return {
        "version": fingerprint(
            version, profiles, cited, facts.identity, settings.indexing.fingerprint(), asdict(words.identity)
        ),
        "passages": version,
        "profiles": profiles,
        "references": cited,
        "n_passages": len(table),
        "n_papers": len(table["paper_id"].unique()),
        "embedding_model": facts.identity,
        "dimension": facts.dimension,
        "max_tokens": facts.max_tokens,
        "tokenizer": read_provenance(paths.chunks).get("tokenizer"),
        vectors.identity.kind: asdict(vectors.identity),
        "bm25": asdict(words.identity),
        "problems": problems,
    }
