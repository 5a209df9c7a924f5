"""The asset `embeddings`: the vectors of each passage.

| vectors of    | made of                   | made by                               | for         |
|---------------|---------------------------|---------------------------------------|-------------|
| the tokens    | the text                  | `LocalTokenEncoder`, with the vector  | our models  |
|               |                           | of the same text in one pass          |             |
| the passage   | the summary, if there is  | the embedder of the settings; what    | every model |
|               | one, and the text         | that pass did not make already        |             |
| words, sparse | the text                  | `SparseModel`                         | Qdrant      |

All are kept by model and text in one file, `data/cache/vectors.sqlite3`: what was made once is not
made again, wherever the passage is. `embeddings` plans (`_wanted`), makes what is missing
(`_make_missing`) and deletes what no passage needs any more (`_keep_only`).
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import dagster as dg

from rag_assets.core.errors import WorkLost
from rag_assets.core.incremental import data_version, read_sealed, write_atomically
from rag_assets.core.kept import KeptFile
from rag_assets.core.paper_tables import Manifest, QuarantinedPaper, manifest_file
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import read_columns
from rag_assets.core.tables import PASSAGES
from rag_assets.core.workforce.workforce import Workforce
from rag_assets.hosted.connections import Connections
from rag_assets.parsing.store import is_recent
from rag_assets.pipeline.assets.chunks import passages
from rag_assets.pipeline.assets.paper_tables import checksums
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    checked_asset,
    last_fact,
    megabytes,
    progress,
)
from rag_assets.search.embedding.fastembed_model import SparseVectors, open_sparse_vectors
from rag_assets.search.embedding.hosted_models import REQUEST_VERSION, is_hosted
from rag_assets.search.embedding.local_model import BUILDER_VERSION
from rag_assets.search.embedding.missing_vectors import (
    EMBEDDING_BATCH,
    EMBEDDING_PROMISES,
    EmbeddingRun,
    VectorsCandidate,
    embed_missing,
    embedding_in,
    encoding_in,
    store_missing_tokens,
)
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets.search.embedding.token_vectors import (
    TokenStore,
    open_token_encoder,
    stores_tokens,
)
from rag_assets.search.embedding.vector_cache import (
    TextCache,
    VectorCache,
    note_papers,
    prune_other_models,
)
from rag_assets.search.indexing.protocols import (
    COLUMNS,
    IndexRow,
    index_rows,
)

logger = logging.getLogger(__name__)


@checked_asset(
    "index",
    EMBEDDING_PROMISES,
    deps=[passages],
    kinds={"onnx"},
    version=f"model builder {BUILDER_VERSION}, requests {REQUEST_VERSION}",
)
def embeddings(
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
    workforce: dg.ResourceParam[Workforce],
) -> Outcome:
    """What passages mean, as vectors, kept by content so that none is made twice;
    `data/cache/vectors.sqlite3`.

    The tokens of Google's models are estimated: its API reports none for embeddings.
    """
    paths = settings.paths
    facts = embedder_facts(settings.embedding, paths.models)
    sparse = open_sparse_vectors(settings)
    file = KeptFile(paths.vectors)

    def follows_from() -> list[Any]:
        made_of = checksums({paths.passages: PASSAGES})
        return [made_of, facts.identity, sparse.identity if sparse else None, file.stamp()]

    def make() -> Made:
        indexed_with = (read_sealed(paths.index_meta) or {}).get("embedding_model", facts.identity)
        if indexed_with != facts.identity:
            logger.warning(
                "The index has vectors of %s. All are made anew with %s, as embedding.model says.",
                indexed_with,
                facts.identity,
            )
        # Plan. Entries are not read for damage again if the file is as the last run left it.
        is_as_left = last_fact(_STANDS) == str(file.stamp())
        wanted = _wanted(settings, replace(file, is_as_left=is_as_left), sparse)
        # Make.
        n_missing = len(wanted.cache.missing(wanted.texts))
        run = _make_missing(wanted, settings, models, workforce)
        n_sparse = _make_missing_sparse(wanted)
        # Note the papers that have no vectors; they are tried again.
        lost = _lost_papers(wanted.items, run.lost, facts.identity, paths)
        write_atomically(manifest_file(paths.vectors), Manifest(quarantined=lost).to_bytes())

        def publish() -> dict[str, Any]:
            n_removed = _keep_only(wanted, paths)
            return {
                "megabytes": megabytes(paths.vectors),
                "n_added": run.n_embedded + n_sparse,
                "n_removed": n_removed,
                "n_unchanged": len(wanted.texts) - n_missing,
                _STANDS: str(file.stamp()),
            }

        return Made(
            wanted.version(run.lost),
            len(wanted.texts),
            check_all(EMBEDDING_PROMISES, VectorsCandidate(lost)),
            publish,
            {"model": facts.identity, "dimension": facts.dimension},
            is_settled=not lost and not is_recent(paths),
        )

    yield from asset_step(
        paths.vectors,
        make,
        follows_from,
        settings=["embedding"],
        models=models,
        counted="vectors",
    )


_STANDS = "file_stands"
"""Metadata: `KeptFile.stamp` of the file of vectors when all its entries were known to be
sound."""


@dataclass(frozen=True)
class _Wanted:
    """Which vectors there must be, and where they are kept."""

    items: Sequence[IndexRow]
    with_tokens: Sequence[str]
    """Texts whose tokens have vectors, too."""
    cache: VectorCache
    tokens: TokenStore
    sparse: SparseVectors | None

    @cached_property
    def texts(self) -> list[str]:
        """Each text that has a vector, once."""
        return list(dict.fromkeys(item.embedded_text for item in self.items))

    def version(self, lost: Collection[str]) -> str:
        """The data version of the vectors. lost: texts that have none."""
        identity = (
            f"{self.cache.identity} {self.sparse.identity}" if self.sparse else self.cache.identity
        )
        return data_version(
            {self.cache.key_of(text): identity for text in self.texts if text not in lost}
        )


def _wanted(settings: Settings, file: KeptFile, sparse: SparseVectors | None) -> _Wanted:
    """What is wanted; it is noted of which paper each vector is before the first one is made."""
    embedding, folder = settings.embedding, settings.paths.models
    items = passage_rows(settings.paths)
    cache = VectorCache(file, embedder_facts(embedding, folder))
    papers: dict[TextCache[Any], dict[str, list[str]]] = {cache: _by_paper(items, "embedded_text")}
    if sparse:
        papers[sparse.cache] = _by_paper(items, "text")
    note_papers(file, papers)
    with_tokens = [item.text for item in items] if stores_tokens(embedding) else []
    tokens = TokenStore(file, open_token_encoder(embedding, folder).identity)
    return _Wanted(items, with_tokens, cache, tokens, sparse)


def _make_missing(
    wanted: _Wanted, settings: Settings, models: Connections, workforce: Workforce
) -> EmbeddingRun:
    """Make the vectors of tokens and passages that are not kept yet."""
    embedding, folder = settings.embedding, settings.paths.models
    paper_of = {
        text: item.paper_id for item in wanted.items for text in (item.text, item.embedded_text)
    }
    # Tokens, with the vector of each text.
    coded = store_missing_tokens(
        wanted.tokens,
        encoding_in(workforce, embedding, folder, paper_of),
        wanted.cache,
        wanted.with_tokens,
        batch_size=EMBEDDING_BATCH,
        report=progress("embeddings", "passages with token vectors"),
    )
    # The other vectors: in processes of their own by a model that runs here, else by its API.
    embedder = open_embedder(embedding, folder, connections=models)
    embed = None
    if not is_hosted(embedding.model):
        embed = embedding_in(workforce, embedding, folder, embedder.identity, paper_of)
    run = embed_missing(
        wanted.cache,
        embedder,
        [text for text in wanted.texts if text not in coded.lost],
        batch_size=EMBEDDING_BATCH,
        embed=embed,
        report=progress("embeddings", "passages"),
    )
    workforce.close()  # each of its processes holds the model, and no later stage needs one
    return EmbeddingRun(coded.n_embedded + run.n_embedded, {**coded.lost, **run.lost})


def _make_missing_sparse(wanted: _Wanted) -> int:
    """Make the sparse vectors that are not kept yet, if a model of them is set; returns how many."""
    if wanted.sparse is None:
        return 0
    return wanted.sparse.embed(
        (item.text for item in wanted.items),
        batch_size=EMBEDDING_BATCH,
        report=progress("embeddings", "sparse vectors"),
    )


def _keep_only(wanted: _Wanted, paths: Paths) -> int:
    """Delete what no passage needs any more; returns of how many texts. Nothing is deleted soon
    after most papers vanished: they may come back."""
    if is_recent(paths):
        return 0
    in_use: dict[TextCache[Any], Collection[str]] = {
        wanted.cache: wanted.texts,
        wanted.tokens: wanted.with_tokens,
    }
    if wanted.sparse:
        in_use[wanted.sparse.cache] = [item.text for item in wanted.items]
    n_removed, *_ = [kept.keep_only(texts) for kept, texts in in_use.items()]
    prune_other_models(wanted.cache.file, in_use, {item.paper_id for item in wanted.items})
    return n_removed


def passage_rows(paths: Paths) -> list[IndexRow]:
    """The rows of all published passages."""
    return index_rows(read_columns(paths.passages, COLUMNS))


def _lost_papers(
    items: Sequence[IndexRow], lost: Mapping[str, str], identity: str, paths: Paths
) -> list[QuarantinedPaper]:
    """The papers of the texts that were lost. lost: reason by text. Raises WorkLost when no other
    paper is left."""
    if not lost:
        return []
    reasons = {
        item.paper_id: lost[text]
        for item in items
        for text in (item.text, item.embedded_text)
        if text in lost
    }
    index = read_columns(paths.parsed_index, ["paper_id", "file_path"])
    files = dict(zip(index["paper_id"].to_pylist(), index["file_path"].to_pylist(), strict=True))
    quarantined = [
        QuarantinedPaper(
            paper,
            files[paper],
            f"No vectors were made of it: {files[paper]} {reason}",
            identity,
        )
        for paper, reason in sorted(reasons.items())
    ]
    if len(quarantined) > 1 and len(quarantined) == len({item.paper_id for item in items}):
        raise WorkLost(
            f"Vectors can be made of none of the {len(quarantined)} papers. The first: {quarantined[0].error}"
        )
    return quarantined


def _by_paper(
    rows: Sequence[IndexRow], column: Literal["text", "embedded_text"]
) -> dict[str, list[str]]:
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        texts[row.paper_id].append(getattr(row, column))
    return texts
