"""The asset `embeddings`: a vector for each passage, and the vectors of its tokens."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.core.domain import Usage
from rag_assets.core.errors import WorkLost
from rag_assets.core.incremental import data_version, staging, write_atomically
from rag_assets.core.paper_tables import Manifest, PaperTable, QuarantinedPaper, manifest_file
from rag_assets.core.promises import CheckedPromise, check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import read_columns
from rag_assets.core.tables import PASSAGES
from rag_assets.core.workforce.seam import Workforce
from rag_assets.hosted.connections import Connections
from rag_assets.parsing.removal import is_recent
from rag_assets.pipeline.assets.chunks import passages
from rag_assets.pipeline.assets.kept_pages import Frame, Page, keep_page, latest_page
from rag_assets.pipeline.assets.publishing import (
    Outcome,
    progress,
    specs,
    usage_facts,
    write_audit_publish,
)
from rag_assets.search.embedding.hosted_models import REQUEST_VERSION, is_hosted
from rag_assets.search.embedding.local_model import BUILDER_VERSION
from rag_assets.search.embedding.missing_vectors import (
    EMBEDDING_BATCH,
    EMBEDDING_PROMISES,
    VectorsCandidate,
    embed_missing,
    store_missing_tokens,
    stores_tokens,
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
from rag_assets.search.indexing.protocols import (
    COLUMNS,
    IndexRow,
    index_rows,
)


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
    items = passage_rows(paths)
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
    paper_of = {text: item.paper_id for item in items for text in (item.text, item.embedded_text)}
    encode = encoding_in(workforce, settings.embedding, paths.models, paper_of)
    report = progress("embeddings", "passages with token vectors")
    coded = store_missing_tokens(tokens, encode, cache, with_tokens, batch_size=EMBEDDING_BATCH, report=report)
    embedder = open_embedder(settings.embedding, paths.models, connections=models)
    is_ours = not is_hosted(settings.embedding.model)
    embed = embedding_in(workforce, settings.embedding, paths.models, embedder.identity, paper_of) if is_ours else None
    report = progress("embeddings", "passages")
    left = [text for text in texts if text not in coded.lost]
    run = embed_missing(cache, embedder, left, batch_size=EMBEDDING_BATCH, embed=embed, report=report)
    workforce.close()  # each of its processes holds the model, and no later stage needs one
    spent = models.budget.since(spent_before)
    n_sparse = sparse.embed(passages.values(), batch_size=EMBEDDING_BATCH, report=report) if sparse else 0
    n_made, lost_texts = coded.n_embedded + run.n_embedded, {**coded.lost, **run.lost}
    lost = _lost_papers(items, lost_texts, facts.identity, paths)

    checked = check_all(EMBEDDING_PROMISES, VectorsCandidate(lost))
    identity = f"{cache.identity} {sparse.identity}" if sparse else cache.identity
    page = Page(
        version=data_version({cache.key_of(text): identity for text in texts if text not in lost_texts}),
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
            in_use: dict[MadeOfTexts[Any], Collection[str]] = {cache: texts, tokens: with_tokens}
            in_use |= {sparse.cache: passages.values()} if sparse else {}
            n_removed, *_ = [made.keep_only(own) for made, own in in_use.items()]
            prune_other_models(file, in_use, {item.paper_id for item in items})
            idle = replace(page, facts=page.facts | _NOTHING_DONE, stands=file.stands())
            _keep(idle, checked, place, "" if lost else key)  # without a key, the next run tries the lost ones again
        return {"n_added": n_made, "n_changed": 0, "n_removed": n_removed, "n_unchanged": len(texts) - n_made}

    write_atomically(manifest_file(paths.vectors), Manifest(quarantined=lost).to_bytes())
    yield from write_audit_publish(checked, publish=publish, report=lambda counts: page.materialization(frame, counts))


def _keep(page: Page, checked: Sequence[CheckedPromise], place: Path, key: str) -> None:
    with staging() as staged:
        keep_page(page, checked, place, key, staged)
        staged.publish()


_NOTHING_DONE = {"n_embedded": 0, "n_sparse_vectors_made": 0, "vectors_per_s": 0.0, "seconds": 0.0} | usage_facts(
    Usage()
)
"""Facts of a run that made no vector."""


def passage_rows(paths: Paths) -> list[IndexRow]:
    """The rows of all published passages."""
    return index_rows(read_columns(paths.passages, COLUMNS))


def _lost_papers(
    items: Sequence[IndexRow], lost: Mapping[str, str], identity: str, paths: Paths
) -> list[QuarantinedPaper]:
    """The papers of the texts that were lost. lost: reason by text. Raises WorkLost when no other paper is left."""
    if not lost:
        return []
    texts = ((item.paper_id, text) for item in items for text in (item.text, item.embedded_text) if text in lost)
    reasons = {paper: lost[text] for paper, text in texts}
    index = read_columns(paths.parsed_index, ["paper_id", "file_path"])
    files = dict(zip(index["paper_id"].to_pylist(), index["file_path"].to_pylist(), strict=True))
    why = {paper: f"No vectors were made of it: {files[paper]} {reason}" for paper, reason in sorted(reasons.items())}
    found = [QuarantinedPaper(paper, files[paper], error, identity) for paper, error in why.items()]
    if len(found) > 1 and len(found) == len({item.paper_id for item in items}):
        raise WorkLost(f"Vectors can be made of none of the {len(found)} papers. The first: {found[0].error}")
    return found


def _by_paper(rows: Sequence[IndexRow], of_passage: Mapping[str, str]) -> dict[str, list[str]]:
    """The values of `of_passage`, by paper."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[row.paper_id].append(of_passage[row.passage_id])
    return found
