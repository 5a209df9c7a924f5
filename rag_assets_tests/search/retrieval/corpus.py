"""A small published corpus: chunks, passages and both indexes, in the layout of the data folder."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from rag_assets.core import table_files, tables
from rag_assets.core.domain import Chunk, Passage
from rag_assets.core.incremental import fingerprint, staging
from rag_assets.core.settings import RetrievalSettings
from rag_assets.corpus.profiles import Profile, profile_of
from rag_assets.questions import ReadQuestion, read
from rag_assets.search.embedding.base import EmbedderFacts
from rag_assets.search.indexing.chroma import ChromaFiles, ChromaStore
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.protocols import IndexRow, Vectors, index_rows
from rag_assets.search.indexing.tantivy_index import TantivyFiles, TantivyIndex
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets.search.retrieval.library import Library
from rag_assets.search.retrieval.paper_names import PaperNames
from rag_assets.search.retrieval.queries import QueryPlanner
from rag_assets.search.retrieval.ranking import DenseSearch
from rag_assets.search.retrieval.search import Searcher
from rag_assets_tests.corpus.chunking.papers import WordCounter, words_and_two
from rag_assets_tests.search.indexing.folders import update_index
from rag_assets_tests.search.indexing.rows import DIMENSION, bag_of_words


class HashedWords:
    """An embedder that tells texts apart by their words and needs no model."""

    identity = "hashed-words"
    facts = EmbedderFacts(identity, DIMENSION, 256, "words")

    count_tokens = staticmethod(words_and_two)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([bag_of_words(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return bag_of_words(text)


def chunk_of(
    chunk_id: str,
    text: str,
    *,
    paper_id: str = "smith2020",
    section: str = "Results",
    ordinal: int = 0,
) -> Chunk:
    """A chunk; "(drawn by a model)" in its text makes it a generated one."""
    return Chunk(
        paper_id=paper_id,
        section_id=section.lower(),
        section_title=section,
        chunk_id=chunk_id,
        text=text,
        n_tokens=len(text.split()),
        page_start=2,
        page_end=3,
        file_path=f"{paper_id}.tei.xml",
        source="tei",
        ordinal=ordinal,
        section_path=section,
        chunk_type="paragraph",
        split_sequence=None,
        is_continuation=False,
        context_before="",
        context_after="",
        char_start=ordinal * 10_000,
        char_end=ordinal * 10_000 + len(text),
        is_generated="(drawn by a model)" in text,
        spans=(),
        fingerprint=fingerprint(text),
    )


def passage_of(
    passage_id: str,
    text: str,
    *,
    chunk_id: str = "",
    paper_id: str = "smith2020",
    start: int = 0,
    chunk_start: int = 0,
    repeated_title: str = "",
    section: str = "Results",
    page: int | None = None,
) -> Passage:
    """A passage whose own text is `text`, at `chunk_start` of its chunk and `start` of its
    paper."""
    return Passage(
        passage_id=passage_id,
        chunk_id=chunk_id or passage_id,
        paper_id=paper_id,
        text=f"{repeated_title}\n{text}" if repeated_title else text,
        n_tokens=len(text.split()),
        char_start=start,
        char_end=start + len(text),
        page_start=page,
        page_end=page,
        chunk_start=chunk_start,
        chunk_end=chunk_start + len(text),
        repeated_title=repeated_title,
        section_title=section,
        section_path=section,
        row_hash=fingerprint(passage_id, text, page, section),
    )


def sentences_as_passages(chunk: Chunk) -> list[Passage]:
    """One passage a sentence; page 2 for the first, 3 for the others."""
    found = list(re.finditer(r"[^.\s][^.]*\.", chunk.text))
    return [
        passage_of(
            chunk.chunk_id if len(found) == 1 else f"{chunk.chunk_id}#{nth}",
            match.group(),
            chunk_id=chunk.chunk_id,
            paper_id=chunk.paper_id,
            start=chunk.char_start + match.start(),
            chunk_start=match.start(),
            section=chunk.section_title,
            page=2 if nth == 0 else 3,
        )
        for nth, match in enumerate(found)
    ]


def profile_table(profiles: Iterable[Profile]) -> pa.Table:
    return tables.to_table([asdict(one) for one in profiles], tables.PROFILES)


def library_of(chunks: pa.Table, passages: pa.Table) -> Library:
    """A library of tables that are published nowhere."""
    with TemporaryDirectory() as folder:
        paths = Path(folder) / "chunks.parquet", Path(folder) / "passages.parquet"
        table_files.write_table(chunks, paths[0], {})
        table_files.write_table(passages, paths[1], {})
        return Library(*paths)


@dataclass(frozen=True)
class Corpus:
    """Chunks cut into passages."""

    chunks: Sequence[Chunk]

    @property
    def passages(self) -> list[Passage]:
        return [passage for chunk in self.chunks for passage in sentences_as_passages(chunk)]

    @property
    def chunk_table(self) -> pa.Table:
        return tables.to_table([tables.chunk_row(chunk) for chunk in self.chunks], tables.CHUNKS)

    @property
    def passage_table(self) -> pa.Table:
        rows = [tables.passage_row(passage, fingerprint(passage.text)) for passage in self.passages]
        return tables.to_table(rows, tables.PASSAGES)

    @property
    def rows(self) -> list[IndexRow]:
        return index_rows(self.passage_table)

    @property
    def library(self) -> Library:
        return library_of(self.chunk_table, self.passage_table)

    def write_tables(self, chunks_file: Path, passages_file: Path) -> None:
        """Publish both tables as a run does: a file that is open is replaced, not written over."""
        with staging() as staged:
            table_files.write_table(self.chunk_table, staged.path(chunks_file), {})
            table_files.write_table(self.passage_table, staged.path(passages_file), {})
            staged.publish()

    def index(self, folder: Path, model_id: str = HashedWords.identity) -> None:
        """Both indexes below `folder`, in `chroma` and `bm25`."""
        embedder = HashedWords()
        target = ChromaFiles(
            model_id, lambda rows: embedder.embed_passages([row.text for row in rows])
        )
        update_index(FolderIndex(folder / "chroma", target), self.rows)
        update_index(FolderIndex(folder / "bm25", TantivyFiles()), self.rows)

    def searcher(
        self,
        folder: Path,
        settings: RetrievalSettings,
        indexes: str = "both",
        reranker: SkippingReranker | None = None,
        planner: QueryPlanner | None = None,
        *,
        has_names: bool = False,
        reading: ReadQuestion = read,
    ) -> Searcher:
        """A searcher over what `index` wrote; `indexes`: both, words or vectors; has_names: it
        knows papers by their ids."""
        dense = (
            None
            if indexes == "words"
            else DenseSearch(ChromaStore.open(folder / "chroma"), HashedWords())
        )
        words = None if indexes == "vectors" else TantivyIndex.open(folder / "bm25")
        library, names = self.library, None
        if has_names:
            profiles = [profile_of(paper_id, "", []) for paper_id in sorted(library.papers)]
            names = PaperNames(profile_table(profiles), words)
        return Searcher(
            library,
            dense,
            words,
            settings,
            WordCounter(),
            reranker,
            planner,
            names=names,
            read=reading,
        )
