"""Words in a local tantivy index, ranked by BM25 (k1 1.2, b 0.75: fixed in tantivy).

A word keeps the hyphens inside it, so that "BMS-986158" is one rare term; its parts are terms too,
so that "BMS 986158" finds it. Questions are taken apart by the same analyser and never reach a
query parser, whose syntax they could break.

Headings are searched in a field that holds their words and those of the passage together: as one
text of the passage they share its length and its saturation, where a second score to be added would
need a weight of its own.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.core.incremental import fingerprint
from rag_assets.core.text.folding import plain
from rag_assets.core.text.terms import pairs_in
from rag_assets.search.indexing.folders import opened_for_reading
from rag_assets.search.indexing.protocols import IndexIdentity, IndexRow, Report, Scope, Scored

if TYPE_CHECKING:
    import tantivy

WORD = r"[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*"
_PART = r"[\p{L}\p{N}]+"
_TEXT, _WITH_HEADINGS = "text", "with_headings"
"""Fields: the words of a passage, and those of the headings above it too, which are searched."""
_ANALYSER = (
    "words with inner hyphens and their parts",
    "lowercase",
    "english stop words",
    "english stems",
    "pairs of East Asian characters",
    7,
)
_STORED = ("passage_id", "paper_id", "chunk_id", "fingerprint")
_META_FILE = "meta.json"
_WRITER_HEAP_BYTES = 512_000_000
"""Most memory for one bucket, so that it becomes one segment; taken as it is needed."""
_MANY_PASSAGES = 5_000
"""Fewer are written anew within a second."""
_MOST_BUCKETS = 7
"""tantivy merges 8 segments into one, which would then hold the papers of several buckets."""
_TIE_MARGIN = 16
_MOST_TERMS = 2_000
"""Allowed passages that are named in a query: looking up 1,000 among 100,000 takes 20 ms, 10,000
take 100 ms."""
_WIDER = 4
"""Times as many hits are fetched when too few of them are allowed."""


_Held = Mapping[str, Mapping[str, str]]
"""passage_id -> fingerprint by bucket."""


class Analyser:
    """Text into terms: words, the parts of hyphenated words and the pairs of East Asian ones,
    lower-cased, without stop words, stemmed."""

    def __init__(self) -> None:
        self._words = _analyser(WORD)
        self._parts = _analyser(_PART)

    def terms(self, text: str) -> list[str]:
        found: list[str] = []
        for word in self._words.analyze(plain(text)):
            found.append(word)
            if "-" in word:
                found += self._parts.analyze(word)
            found += pairs_in(word)
        return found


class TantivyIndex:
    """Words by passage, opened for reading: no byte of the index changes. May be used by several
    threads."""

    def __init__(self, index: "tantivy.Index") -> None:
        self._index = index
        self._analyser = Analyser()
        self._searcher = index.searcher()

    @classmethod
    def open(cls, folder: Path) -> "TantivyIndex":
        """Open an existing index. Raises ValueError for a folder tantivy cannot read."""
        import tantivy

        return opened_for_reading(folder, lambda place: cls(tantivy.Index.open(str(place))))

    def search(self, question: str, limit: int, scope: Scope | None = None) -> list[Scored]:
        """Passages sharing a word with a question of any characters, best BM25 first; ties by
        passage_id.

        scope: the passages that may be returned, None for all; their scores are those of the whole
        index.
        """
        query = self._query(question, scope)
        n_wanted = min(limit, self._searcher.num_docs)
        if query is None or n_wanted <= 0:
            return []
        passages = None if scope is None else scope.passage_ids
        n_fetched = n_wanted + _TIE_MARGIN
        if passages is not None and len(passages) > _MOST_TERMS:
            n_fetched = n_fetched * self._searcher.num_docs // len(passages)
        while True:
            hits = self._searcher.search(query, limit=n_fetched, count=False).hits
            scored = [
                Scored(str(self._searcher.doc(at).get_first("passage_id")), score)
                for score, at in hits
            ]
            found = [hit for hit in scored if passages is None or hit.passage_id in passages]
            if len(hits) < n_fetched or (
                len(found) >= n_wanted and scored[-1].score != found[n_wanted - 1].score
            ):
                return sorted(found, key=lambda hit: (-hit.score, hit.passage_id))[:n_wanted]
            n_fetched *= _WIDER

    def n_holding(self, word: str, paper_ids: Sequence[str] | None = None) -> int | None:
        """How many passages (of those papers, if given) hold the word; None for a stop word, which
        is not indexed."""
        import tantivy

        terms, schema = self._analyser.terms(word), self._index.schema
        if not terms:
            return None
        holding = tantivy.Query.term_query(schema, _TEXT, terms[0])
        if paper_ids is not None:
            of_papers = tantivy.Query.term_set_query(schema, "paper_id", list(paper_ids))
            holding = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, holding), (tantivy.Occur.Must, of_papers)]
            )
        found: Any = self._searcher.search(
            holding, limit=1, count=True
        )  # tantivy's stub leaves `count` out
        return int(found.count)

    def documents(self) -> "list[tantivy.Document]":
        """Everything inside, as stored."""
        import tantivy

        everything = self._searcher.search(
            tantivy.Query.all_query(), limit=max(1, self._searcher.num_docs)
        ).hits
        return [self._searcher.doc(address) for _, address in everything]

    def finds(self, row: IndexRow) -> bool:
        """Whether a passage is among the hits for all its words within its paper; true for one
        without words."""
        if not self._analyser.terms(row.text):
            return True
        hits = self.search(row.text, self._searcher.num_docs, Scope((row.paper_id,)))
        return any(hit.passage_id == row.passage_id for hit in hits)

    def close(self) -> None:
        """tantivy has nothing to close; its files are released with the object."""

    def _query(self, question: str, scope: Scope | None) -> "tantivy.Query | None":
        """A disjunction of the question's terms; None when it has none or no passage is allowed.

        More passages than `_MOST_TERMS` are not in it: looking up each would take longer than
        passing over hits.
        """
        import tantivy

        terms = self._analyser.terms(question)
        if not terms or (scope is not None and scope.is_empty):
            return None
        schema = self._index.schema
        should = tantivy.Query.boolean_query(
            [
                (
                    tantivy.Occur.Should,
                    tantivy.Query.term_query(schema, _WITH_HEADINGS, term, index_option="freq"),
                )
                for term in terms
            ]
        )
        if scope is None or len(scope.passage_ids or ()) > _MOST_TERMS:
            return should
        if scope.passage_ids is None:
            allowed = tantivy.Query.term_set_query(schema, "paper_id", list(scope.paper_ids or ()))
        else:
            allowed = tantivy.Query.term_set_query(schema, "passage_id", sorted(scope.passage_ids))
        unscored = tantivy.Query.const_score_query(allowed, 0.0)
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, should), (tantivy.Occur.Must, unscored)]
        )


class TantivyFiles:
    """The words of the passages in a folder; see `IndexFiles`.

    tantivy counts deleted documents in its statistics until their segment is merged, so scores
    would depend on the history of the index. Therefore each segment holds the papers of one bucket,
    and a bucket with a change is written anew as a whole, in the order of the ids: the old segment
    goes with its last document, and the segments are those of a fresh build.
    """

    most_changed = float("inf")
    """An updated index answers as a fresh one. Segments never change, and other files are replaced
    by a rename."""
    place = ""

    def __init__(self) -> None:
        self._last_read: tuple[bytes, _Held] = b"", {}

    @property
    def identity(self) -> IndexIdentity:
        return IndexIdentity("tantivy", "", fingerprint(*_ANALYSER, WORD))

    def fingerprints(self, folder: Path) -> dict[str, str]:
        return {id_: mark for bucket in self._held(folder).values() for id_, mark in bucket.items()}

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        import tantivy

        held, wanted = self._held(folder), _buckets(rows)
        outdated = [
            bucket
            for bucket in sorted(held.keys() | wanted.keys())
            if held.get(bucket)
            != {row.passage_id: row.fingerprint for row in wanted.get(bucket, [])}
        ]
        index = tantivy.Index(_schema(), str(folder))
        writer = index.writer(_WRITER_HEAP_BYTES, num_threads=1)
        analyser = Analyser()
        n_done, n_to_do = 0, sum(len(wanted.get(bucket, [])) for bucket in outdated)
        for bucket in outdated:
            writer.delete_documents_by_term("bucket", bucket)
            for row in wanted.get(bucket, []):
                document = tantivy.Document(
                    bucket=bucket, **{name: getattr(row, name) for name in _STORED}
                )
                own = analyser.terms(row.text)
                beside = analyser.terms(f"{row.heading_text}\n{row.summary}")
                document.add_text(_TEXT, _separated(own))
                document.add_text(_WITH_HEADINGS, _separated([*beside, *own]))
                writer.add_document(document)
            writer.commit()
            n_done += len(wanted.get(bucket, []))
            report(n_done, n_to_do)
        writer.wait_merging_threads()

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages that have words and are not among the hits for all of them within their paper;
        all of the sample when the statistics, and with them every score, count deleted passages."""
        segments = json.loads((folder / _META_FILE).read_bytes())["segments"]
        if any(
            segment["deletes"] and segment["deletes"]["num_deleted_docs"] for segment in segments
        ):
            return tuple(row.passage_id for row in sample)
        index = TantivyIndex.open(folder)
        return tuple(row.passage_id for row in sample if not index.finds(row))

    def is_there(self, folder: Path, n_passages: int) -> bool:  # noqa: ARG002 - the files are all of it
        return True

    def open(self, folder: Path) -> TantivyIndex:
        return TantivyIndex.open(folder)

    def _held(self, folder: Path) -> "_Held":
        """Everything in the folder; empty for an empty folder. A copy of the folder that was read
        last is not read: its meta file names the same segments, which tantivy never changes once
        they are written.
        """
        try:
            segments = (folder / _META_FILE).read_bytes()
        except FileNotFoundError:
            return {}
        if segments != self._last_read[0]:
            held: defaultdict[str, dict[str, str]] = defaultdict(dict)
            for kept in TantivyIndex.open(folder).documents():
                held[str(kept.get_first("bucket"))][str(kept.get_first("passage_id"))] = str(
                    kept.get_first("fingerprint")
                )
            self._last_read = segments, held
        return self._last_read[1]


def _schema() -> "tantivy.Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in (*_STORED, "bucket"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    for name in (_TEXT, _WITH_HEADINGS):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _buckets(rows: Mapping[str, IndexRow]) -> dict[str, list[IndexRow]]:
    """The rows by bucket, each bucket in the order of the ids. The papers of a small corpus share
    one bucket."""
    n_buckets = _MOST_BUCKETS if len(rows) >= _MANY_PASSAGES else 1
    papers = {row.paper_id for row in rows.values()}
    bucket_of = {
        paper: f"{int(fingerprint(paper), 16) % n_buckets} of {n_buckets}" for paper in papers
    }
    buckets: defaultdict[str, list[IndexRow]] = defaultdict(list)
    for id_ in sorted(rows):
        buckets[bucket_of[rows[id_].paper_id]].append(rows[id_])
    return buckets


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
    """Terms hold letters, digits and hyphens only, so that white space keeps them apart as they
    are."""
    return " ".join(terms)
