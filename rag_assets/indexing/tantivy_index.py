"""Words in a local tantivy index, ranked by BM25 (k1 1.2, b 0.75: fixed in tantivy).

A word keeps the hyphens inside it, so that "BMS-986158" is one rare term; its parts are terms too, so that
"BMS 986158" finds it. Questions are taken apart by the same analyser and never reach a query parser, whose syntax
they could break.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.incremental import fingerprint
from rag_assets.indexing.protocols import IndexIdentity, IndexRow, Scored
from rag_assets.indexing.read_only import opened_for_reading

if TYPE_CHECKING:
    import tantivy

WORD = r"[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*"
_PART = r"[\p{L}\p{N}]+"
_ANALYSER = ("words with inner hyphens and their parts", "lowercase", "english stop words", "english stems", 1)
_STORED = ("passage_id", "paper_id", "chunk_id", "fingerprint")
_WRITER_HEAP_BYTES = 64_000_000
_TIE_MARGIN = 16


class Analyser:
    """Text into terms: words, and the parts of hyphenated words, lower-cased, without stop words, stemmed."""

    def __init__(self) -> None:
        self._words = _analyser(WORD)
        self._parts = _analyser(_PART)

    def terms(self, text: str) -> list[str]:
        found: list[str] = []
        for word in self._words.analyze(text):
            found.append(word)
            if "-" in word:
                found += self._parts.analyze(word)
        return found


class TantivyIndex:
    """One index of passages, for reading; see `LexicalIndex`."""

    def __init__(self, index: "tantivy.Index") -> None:
        self._index = index
        self._analyser = Analyser()
        self._searcher = index.searcher()

    @classmethod
    def open(cls, folder: Path) -> "TantivyIndex":
        """Open an existing index. Raises ValueError for a folder tantivy cannot read."""
        import tantivy

        return opened_for_reading(folder, lambda place: cls(tantivy.Index.open(str(place))))

    def fingerprints(self) -> dict[str, str]:
        import tantivy

        everything = self._searcher.search(tantivy.Query.all_query(), limit=max(1, self._searcher.num_docs)).hits
        documents = (self._searcher.doc(address) for _, address in everything)
        return {str(kept.get_first("passage_id")): str(kept.get_first("fingerprint")) for kept in documents}

    def search(self, question: str, limit: int, paper_ids: Sequence[str] | None = None) -> list[Scored]:
        query = self._query(question, paper_ids)
        if query is None or self._searcher.num_docs == 0:
            return []
        n_wanted = min(limit, self._searcher.num_docs)
        n_fetched = n_wanted + _TIE_MARGIN
        hits = self._searcher.search(query, limit=n_fetched, count=False).hits
        while len(hits) == n_fetched and hits[-1][0] == hits[n_wanted - 1][0]:
            n_fetched *= 2
            hits = self._searcher.search(query, limit=n_fetched, count=False).hits
        scored = [Scored(str(self._searcher.doc(address).get_first("passage_id")), score) for score, address in hits]
        return sorted(scored, key=lambda hit: (-hit.score, hit.passage_id))[:n_wanted]

    def close(self) -> None:
        """tantivy has nothing to close; its files are released with the object."""

    def _query(self, question: str, paper_ids: Sequence[str] | None) -> "tantivy.Query | None":
        """A disjunction of the question's terms; None when it has none or no paper is allowed."""
        import tantivy

        terms = self._analyser.terms(question)
        if not terms or (paper_ids is not None and not paper_ids):
            return None
        schema = self._index.schema
        should = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term, index_option="freq"))
                for term in terms
            ]
        )
        if paper_ids is None:
            return should
        papers = tantivy.Query.term_set_query(schema, "paper_id", list(paper_ids))
        unscored = tantivy.Query.const_score_query(papers, 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, should), (tantivy.Occur.Must, unscored)])


class TantivyWriter(TantivyIndex):
    """The same for writing; see `IndexWriter`."""

    def __init__(self, index: "tantivy.Index") -> None:
        super().__init__(index)
        self._writer = index.writer(_WRITER_HEAP_BYTES, num_threads=1)

    def upsert(self, rows: Sequence[IndexRow]) -> None:
        import tantivy

        for row in rows:
            self._writer.delete_documents_by_term("passage_id", row.passage_id)
            document = tantivy.Document(**{name: getattr(row, name) for name in _STORED})
            document.add_text("text", _separated(self._analyser.terms(row.text)))
            self._writer.add_document(document)
        self._commit()

    def delete(self, passage_ids: Sequence[str]) -> None:
        for passage_id in passage_ids:
            self._writer.delete_documents_by_term("passage_id", passage_id)
        self._commit()

    def faults(self, sample: Sequence[IndexRow]) -> list[str]:
        """Passages that have words and are not among the hits for all of them within their paper."""
        return [row.passage_id for row in sample if self._analyser.terms(row.text) and not self._is_found(row)]

    def recall(self, sample: Sequence[IndexRow]) -> None:
        """Nothing to measure: every search is exact."""

    def close(self) -> None:
        self._writer.wait_merging_threads()

    def _is_found(self, row: IndexRow) -> bool:
        hits = self.search(row.text, self._searcher.num_docs, [row.paper_id])
        return any(hit.passage_id == row.passage_id for hit in hits)

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()


def tantivy_identity() -> IndexIdentity:
    """What the manifest of a fitting lexical index says."""
    return IndexIdentity("tantivy", "", fingerprint(*_ANALYSER, WORD))


@dataclass(frozen=True)
class TantivyTarget:
    """The words of the passages; see `IndexTarget`."""

    # tantivy counts deleted documents in its term statistics until a merge happens to drop them, so that scores
    # would depend on the history of the index.
    forgets_in_place = False
    min_recall = 0.0

    @property
    def identity(self) -> IndexIdentity:
        return tantivy_identity()

    def read(self, folder: Path) -> TantivyIndex:
        return TantivyIndex.open(folder)

    def write(self, folder: Path) -> TantivyWriter:
        import tantivy

        builder = tantivy.SchemaBuilder()
        for name in _STORED:
            builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        return TantivyWriter(tantivy.Index(builder.build(), str(folder)))

    def complete(self, folder: Path, rows: Sequence[IndexRow]) -> None:
        """tantivy's files are all there is."""


def _analyser(pattern: str) -> "tantivy.TextAnalyzer":
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(pattern))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stopword("english"))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def _separated(terms: Sequence[str]) -> str:
    """Terms hold letters, digits and hyphens only, so that white space keeps them apart as they are."""
    return " ".join(terms)
