"""Opens the published set of tables and indexes that a search needs, once.

An index is left out with a warning if it is missing or damaged, or was made of other passages or
with another model. The other index then answers alone. Nothing on disk is changed.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from rag_assets.core.domain import PaperFacts, Record
from rag_assets.core.errors import (
    MissingInput,
    MissingModel,
    StoreRefused,
    StoreUnavailable,
)
from rag_assets.core.incremental import data_version, fingerprint, is_being_written, read_once
from rag_assets.core.kept import kept_file
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import (
    OpenTable,
    read_columns,
    required_table,
)
from rag_assets.core.tables import fingerprints_by_paper, records_from
from rag_assets.core.text.tokens import token_counter
from rag_assets.core.text.works import cited_names, same_works
from rag_assets.hosted.connections import Connections
from rag_assets.questions import ReadQuestion, read
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.fastembed_model import open_sparse_vectors
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.protocols import IndexManifest, VectorStore
from rag_assets.search.indexing.published_set import place_of
from rag_assets.search.indexing.stores import published_indexes, vector_index, word_index
from rag_assets.search.indexing.tantivy_index import TantivyIndex
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets.search.retrieval.cited_works import CitedWorks
from rag_assets.search.retrieval.known_papers import KnownPapers
from rag_assets.search.retrieval.library import Library
from rag_assets.search.retrieval.paper_names import PaperNames
from rag_assets.search.retrieval.queries import QueryPlanner
from rag_assets.search.retrieval.ranking import DenseSearch
from rag_assets.search.retrieval.search import Searcher

logger = logging.getLogger(__name__)

Opened = TypeVar("Opened", VectorStore, TantivyIndex)
Part = TypeVar("Part")


def open_searcher(
    settings: Settings,
    connections: Connections,
    embedder: Embedder | None = None,
    reranker: SkippingReranker | None = None,
    planner: QueryPlanner | None = None,
    read: ReadQuestion = read,
) -> Searcher:
    """Open chunks, passages and indexes below `settings.data_dir`. The embedding model is loaded by
    the first question.

    connections: to an embedding model behind an API. embedder: that of the settings, if it is open
    already. reranker: None keeps the order of the indexes. planner: None makes queries by rules
    alone. read: reads what a question asks for.

    Raises MissingInput when a table or both indexes are missing or do not fit, StaleIndex when the
    tables do not fit each other, MissingKey when the embedding model needs a key that is not set,
    StoreUnavailable or StoreRefused when the vectors are on a server that does not answer. Such a
    server is an error, because an answer found by words alone would replace a better one.
    """
    paths, place = settings.paths, place_of(settings)
    if not all(place(table).exists() for table in (paths.chunks, paths.passages)):
        raise _nothing_to_search(paths.data)
    no_records: Mapping[str, Record] = {}
    records = _opened_or(
        no_records,
        lambda: records_from(required_table(place(paths.records))),
        "Papers are cited by their ids",
    )
    facts = _facts(records)
    library = Library(place(paths.chunks), place(paths.passages), facts)
    dense = _dense_search(settings, library, connections, embedder)
    words = _opened(word_index(settings), library, settings)
    if dense is None and words is None:
        raise _nothing_to_search(paths.data)
    counter = token_counter(settings.chunking.tokenizer)
    names = _opened_or(
        None,
        lambda: PaperNames(required_table(place(paths.profiles)), words),
        "Papers are not found by their names",
    )
    known = KnownPapers(facts, {paper: record.arxiv for paper, record in records.items()})
    cited = _opened_or(
        CitedWorks(),
        lambda: CitedWorks(OpenTable(place(paths.references)), known),
        "No answer says whether its quotes report other works",
    )
    # Free the columns that were read to open the tables: a tenth of the memory of a large corpus.
    pa.default_memory_pool().release_unused()
    retrieval = settings.retrieval
    return Searcher(
        library, dense, words, retrieval, counter, reranker, planner, names, cited, known, read
    )


def _nothing_to_search(data: Path) -> MissingInput:
    if is_being_written(data):
        return MissingInput(f"A run is writing {data}. Ask when it is done.")
    return MissingInput.index(data)


def _opened_or(default: Part, open_: Callable[[], Part], without: str) -> Part:
    """What `open_` returns; the default if a table cannot be used, with a warning that begins with
    what is lost."""
    try:
        return open_()
    except MissingInput as error:
        logger.warning("%s: %s", without, error)
        return default


def _facts(records: Mapping[str, Record]) -> dict[str, PaperFacts]:
    """What is known of the papers, by paper_id."""
    cited, same = cited_names(records), same_works(records)
    return {
        paper: PaperFacts(
            title=record.title or "",
            authors=tuple(person.name for person in record.authors),
            year=str(record.year or ""),
            doi=record.doi or "",
            cited_as=cited[paper],
            work=same.get(paper, paper),
            venue=record.venue or "",
            type=record.type or "",
            language=record.language or "",
            is_retracted=record.retracted is not None,
        )
        for paper, record in records.items()
    }


def _dense_search(
    settings: Settings, library: Library, connections: Connections, embedder: Embedder | None
) -> DenseSearch | None:
    from rag_assets.search.embedding.providers import embedder_facts, open_embedder

    paths = settings.paths
    sparse = open_sparse_vectors(settings)
    try:
        model = embedder_facts(settings.embedding, paths.models).identity
    except MissingModel as error:
        logger.warning("Searching by words alone: %s", error)
        return None
    index = vector_index(settings, model, sparse_model=sparse.identity if sparse else None)
    store = _opened(index, library, settings)
    if store is None:
        return None
    if embedder is None:
        embedder = open_embedder(
            settings.embedding, paths.models, connections=connections, kept=kept_file(settings)
        )
    return DenseSearch(store, embedder, sparse)


def corpus_version(settings: Settings) -> str:
    """A hash that changes with everything on disk that search results depend on.

    It also changes when an index goes missing or is damaged, and when it is back: answers made with
    one index must be made again with both. Raises StoreUnavailable or StoreRefused when a server
    does not answer.
    """
    paths, place = settings.paths, place_of(settings)
    indexes = [replace(index, folder=place(index.folder)) for index in published_indexes(settings)]
    return fingerprint(
        _version_of(place(paths.chunks)),
        _version_if_any(place(paths.profiles)),
        _version_if_any(place(paths.references)),
        [
            manifest.version if (manifest := index.manifest()) and index.is_intact() else None
            for index in indexes
        ],
    )


def _version_of(table: Path) -> str:
    """Version of a table's content. The table is read again only if its file has changed. Raises
    MissingInput."""
    return read_once(table, _read_version) if table.exists() else _read_version(table)


def _read_version(table: Path) -> str:
    return data_version(fingerprints_by_paper(read_columns(table, ["paper_id", "fingerprint"])))


def _version_if_any(table: Path) -> str | None:
    """None when there is no table that can be used."""
    try:
        return _version_of(table)
    except MissingInput:
        return None


def _opened(index: FolderIndex[Opened], library: Library, settings: Settings) -> Opened | None:
    """The index, opened; or None with a warning that gives the reason."""
    index = replace(index, folder=place_of(settings)(index.folder))
    wanted = IndexManifest(index.identity, library.version, library.n_passages)
    found = index.manifest()
    if found != wanted or not index.is_intact():
        logger.warning(
            "%s is not used: it %s. Make it again: rag-assets index build",
            index,
            _misfit(found, wanted),
        )
        return None
    try:
        return index.open()
    except (StoreUnavailable, StoreRefused):
        raise
    except Exception as error:
        logger.warning(
            "%s is not used: it cannot be opened (%s). Make it again: rag-assets index build",
            index,
            error,
        )
        return None


def _misfit(found: IndexManifest | None, wanted: IndexManifest) -> str:
    """Why an index cannot be used, as words after "it"."""
    if found is None:
        return "is missing or unfinished"
    if found == wanted:
        return "is damaged"
    if found.identity.model_id != wanted.identity.model_id:
        return f"was built with {found.identity.model_id}, this run asks for {wanted.identity.model_id}"
    if found.identity != wanted.identity:
        return "was built with other settings than this run asks for"
    return f"describes other passages ({found.n_passages}) than the published ones ({wanted.n_passages})"
