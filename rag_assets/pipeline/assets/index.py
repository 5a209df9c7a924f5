"""Assets from vectors to indexes: `embeddings`, `chroma_index`, `bm25_index`, `index_meta`."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import dagster as dg
import numpy as np

from rag_assets.core.domain import Usage
from rag_assets.core.incremental import data_version, fingerprint, read_json, staging
from rag_assets.core.paper_tables import PaperTable
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import read_columns, read_provenance
from rag_assets.core.tables import PASSAGES, PROFILES, REFERENCES, fingerprints_by
from rag_assets.core.workforce.seam import Workforce
from rag_assets.hosted.connections import Connections
from rag_assets.parsing.removal import is_recent
from rag_assets.pipeline.assets.chunks import passages, profiles
from rag_assets.pipeline.assets.kept_pages import Frame, Page, keep_page, kept_page, latest_page, page_file
from rag_assets.pipeline.assets.publishing import (
    Outcome,
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
    place = paths.cache / ".embeddings.page.json"
    frame = Frame(paths.vectors, EMBEDDING_PROMISES, {"embedding": settings.embedding}, "passages")
    facts, sparse = embedder_facts(settings.embedding, paths.models), open_sparse_vectors(settings)
    made_of = PaperTable.required(paths.passages, PASSAGES).checksums
    key = frame.key(made_of, facts.identity, sparse.identity if sparse else None)
    file, last = vector_file(paths.vectors), latest_page(place)
    if last and last.stands == file.stands():
        file = replace(file, is_as_left=True)
        if last.key == key:
            yield from last.said_again(frame)
            return
    items = _rows(paths)
    cache = VectorCache(file, facts)
    embedded = {item.passage_id: item.embedded_text for item in items}
    passages = {item.passage_id: item.text for item in items}
    texts = dict.fromkeys(embedded.values())
    tokens = TokenStore(file, open_token_encoder(settings.embedding, paths.models).identity)
    with_tokens = list(passages.values()) if stores_tokens(settings.embedding) else []
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

    checked = check_all(EMBEDDING_PROMISES, without_unit_vector(cache, embedded))
    identity = f"{cache.identity} {sparse.identity}" if sparse else cache.identity
    page = Page(
        version=data_version({cache.key_of(text): identity for text in texts}),
        n_rows=len(texts),
        n_items=len(texts),
        facts={
            "model": facts.identity,
            "dimension": facts.dimension,
            "n_embedded": n_made,
            "n_sparse_vectors_made": n_sparse,
            "vectors_per_s": run.vectors_per_s,
            "seconds": run.seconds,
        }
        | usage_facts(spent),
    )

    def publish() -> dict[str, int]:
        n_removed = 0
        if not is_recent(paths):
            n_removed = cache.keep_only(texts)
            tokens.keep_only(with_tokens)
            if sparse:
                sparse.cache.keep_only(passages.values())
            in_use: list[MadeOfTexts[Any]] = [cache, tokens, *([sparse.cache] if sparse else [])]
            prune_other_models(file, in_use, {item.paper_id for item in items})
            with staging() as staged:
                idle = replace(page, facts=page.facts | _NOTHING_DONE, stands=file.stands())
                keep_page(idle, checked, place, key, staged)
                staged.publish()
        return {"n_added": n_made, "n_changed": 0, "n_removed": n_removed, "n_unchanged": len(texts) - n_made}

    yield from write_audit_publish(checked, publish=publish, report=lambda counts: page.materialization(frame, counts))


_NOTHING_DONE = {"n_embedded": 0, "n_sparse_vectors_made": 0, "vectors_per_s": 0.0, "seconds": 0.0} | usage_facts(
    Usage()
)
"""Facts of a run that made no vector."""


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
    paths = settings.paths
    place = paths.cache / f".{asset}.page.json"
    told = {"store": target.identity.kind, "place": str(target)}
    frame = Frame(target.folder, INDEX_PROMISES, {"indexing": settings.indexing}, "passages", told)
    made_of = PaperTable.required(paths.passages, PASSAGES).checksums

    def key_of(manifest: IndexManifest | None) -> str:
        return frame.key(made_of, asdict(target.identity), asdict(manifest) if manifest else None)

    if page := kept_page(place, key_of(target.published()), frame):
        yield from page.said_again(frame)
        return
    staged = stage_index(target, _rows(paths), report=progress(asset, "passages"))
    checked = check_all(INDEX_PROMISES, staged)
    manifest = staged.manifest
    page = Page(manifest.version, manifest.n_passages, manifest.n_passages)

    def publish() -> None:
        staged.publish()
        with staging() as pages:
            keep_page(page, checked, place, key_of(manifest), pages)
            pages.publish()

    yield from write_audit_publish(
        checked, publish=publish, report=lambda _: page.materialization(frame, staged.plan.counts())
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
    place = page_file(paths.index_meta)
    frame = Frame(paths.index_meta, META_PROMISES, counted="files")
    key = frame.key(_meta_follows_from(settings))
    with staging() as staged:
        if page := kept_page(place, key, frame):
            staged.put(paths.index_meta, page.beside[paths.index_meta.name].encode())
            staged.publish()
            yield from page.said_again(frame)
            return
        meta = _index_facts(settings)
        content = {name: value for name, value in meta.items() if name != "problems"}
        is_same = read_json(paths.index_meta) == content
        text = json.dumps(content, indent=2) + "\n"
        facts = {"n_passages": content["n_passages"], "model": content["embedding_model"]}
        page = Page(content["version"], 1, 1, facts, beside={paths.index_meta.name: text})
        checked = check_all(META_PROMISES, meta)
        staged.put(paths.index_meta, text.encode())
        keep_page(page, checked, place, key, staged)
        counts = {"n_added": 0, "n_changed": int(not is_same), "n_removed": 0, "n_unchanged": int(is_same)}
        yield from write_audit_publish(
            checked, publish=staged.publish, report=lambda _: page.materialization(frame, counts)
        )


def _meta_follows_from(settings: Settings) -> list[Any]:
    """Everything that index_meta.json follows from, as JSON values, without reading a table."""
    paths = settings.paths
    tables = {paths.passages: PASSAGES, paths.profiles: PROFILES, paths.references: REFERENCES}
    facts = asdict(embedder_facts(settings.embedding, paths.models))
    indexes = (vector_index(settings, facts["identity"], sparse=_sparse_source(settings)), word_index(settings))
    found = [asdict(manifest) if (manifest := index.manifest()) else None for index in indexes]
    return [
        *(PaperTable.required(path, schema).checksums for path, schema in tables.items()),
        facts,
        [asdict(index.identity) for index in indexes],
        found,
        settings.indexing.fingerprint(),
        read_provenance(paths.chunks),
    ]


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
