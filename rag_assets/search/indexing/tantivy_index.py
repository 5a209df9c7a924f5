"""Words in a local tantivy index, ranked by BM25 (k1 1.2, b 0.75: fixed in tantivy).

A word with hyphens is one term, so "BMS-986158" is one rare term; its parts are terms too, so that
"BMS 986158" finds it. Questions are cut into terms by the same analyser. They are not parsed as
queries, since their punctuation could be invalid query syntax.

A search looks in a field that has the words of the passage and of its headings together. As one
text they share its length and saturation; separate scores would need a weight to add them.
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
"""Fields: the words of a passage, and its words together with those of the headings above it. The
second field is searched."""
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
"""Most memory for writing one bucket, so that it becomes one segment. Memory is only used as it is
needed."""
_MANY_PASSAGES = 5_000
"""A smaller corpus has one bucket, since it is written anew within a second."""
_MOST_BUCKETS = 7
"""tantivy merges 8 segments into one, so there are fewer: a merged segment would hold several
buckets."""
_TIE_MARGIN = 16
_MOST_TERMS = 2_000
"""A query lists at most this many allowed passages: looking up 1,000 of 100,000 takes 20 ms, 10,000
take 100 ms."""
_WIDER = 4
"""Factor by which more hits are fetched if too few of them are allowed."""


_Buckets = Mapping[str, Mapping[str, str]]
"""passage_id -> fingerprint, by bucket."""


class Analyser:
    """Cuts text into terms: words, the parts of words with hyphens, and pairs of East Asian
    characters. Terms are in lower case and stemmed; stop words are left out."""

    def __init__(self) -> None:
        self._words = _analyser(WORD)
        self._parts = _analyser(_PART)

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order; a word comes before its parts and pairs."""
        all_terms: list[str] = []
        for word in self._words.analyze(plain(text)):
            all_terms.append(word)
            if "-" in word:
                all_terms += self._parts.analyze(word)
            all_terms += pairs_in(word)
        return all_terms


class TantivyIndex:
    """The words of the passages, opened for reading: no byte of the index changes. May be used by
    several threads."""

    def __init__(self, index: "tantivy.Index") -> None:
        self._index = index
        self._analyser = Analyser()
        self._searcher = index.searcher()

    @classmethod
    def open(cls, folder: Path) -> "TantivyIndex":
        """Open an existing index. Raises ValueError for a folder that tantivy cannot read."""
        import tantivy

        return opened_for_reading(folder, lambda path: cls(tantivy.Index.open(str(path))))

    def search(self, question: str, limit: int, scope: Scope | None = None) -> list[Scored]:
        """Passages that share a word with the question, by BM25, best first; equal scores are
        sorted by passage_id. The question may have any characters.

        scope: the passages that may be returned, None for all. Scores do not depend on the scope.
        """
        query = self._query(question, scope)
        n_wanted = min(limit, self._searcher.num_docs)
        if query is None or n_wanted <= 0:
            return []
        allowed_ids = None if scope is None else scope.passage_ids
        n_fetched = n_wanted + _TIE_MARGIN
        # more than `_MOST_TERMS` ids are not in the query: some hits will not be allowed
        if allowed_ids is not None and len(allowed_ids) > _MOST_TERMS:
            n_fetched = n_fetched * self._searcher.num_docs // len(allowed_ids)
        while True:
            hits = self._searcher.search(query, limit=n_fetched, count=False).hits
            scored = [
                Scored(str(self._searcher.doc(address).get_first("passage_id")), score)
                for score, address in hits
            ]
            allowed_hits = [
                hit for hit in scored if allowed_ids is None or hit.passage_id in allowed_ids
            ]
            # done if there are no more hits, or if all that tie for the last place are fetched
            if len(hits) < n_fetched or (
                len(allowed_hits) >= n_wanted
                and scored[-1].score != allowed_hits[n_wanted - 1].score
            ):
                return sorted(allowed_hits, key=lambda hit: (-hit.score, hit.passage_id))[:n_wanted]
            n_fetched *= _WIDER

    def n_holding(self, word: str, paper_ids: Sequence[str] | None = None) -> int | None:
        """The number of passages (of these papers, if given) that have the word; None for a stop
        word, which is not indexed."""
        import tantivy

        terms, schema = self._analyser.terms(word), self._index.schema
        if not terms:
            return None
        query = tantivy.Query.term_query(schema, _TEXT, terms[0])
        if paper_ids is not None:
            in_papers = tantivy.Query.term_set_query(schema, "paper_id", list(paper_ids))
            query = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, query), (tantivy.Occur.Must, in_papers)]
            )
        # `Any`, since tantivy's type stub has no `count`
        result: Any = self._searcher.search(query, limit=1, count=True)
        return int(result.count)

    def documents(self) -> "list[tantivy.Document]":
        import tantivy

        hits = self._searcher.search(
            tantivy.Query.all_query(), limit=max(1, self._searcher.num_docs)
        ).hits
        return [self._searcher.doc(address) for _, address in hits]

    def finds(self, row: IndexRow) -> bool:
        """Whether a search for all words of a passage, within its paper, finds the passage. True
        for a passage without words."""
        if not self._analyser.terms(row.text):
            return True
        hits = self.search(row.text, self._searcher.num_docs, Scope((row.paper_id,)))
        return any(hit.passage_id == row.passage_id for hit in hits)

    def close(self) -> None:
        """Does nothing: tantivy's files are released with this object."""

    def _query(self, question: str, scope: Scope | None) -> "tantivy.Query | None":
        """A query for passages with any term of the question. None if the question has no terms or
        no passage is allowed.

        Allowed passages are part of the query if there are at most `_MOST_TERMS`. Looking up more
        would take longer than skipping hits that are not allowed.
        """
        import tantivy

        terms = self._analyser.terms(question)
        if not terms or (scope is not None and scope.is_empty):
            return None
        schema = self._index.schema
        any_term = tantivy.Query.boolean_query(
            [
                (
                    tantivy.Occur.Should,
                    tantivy.Query.term_query(schema, _WITH_HEADINGS, term, index_option="freq"),
                )
                for term in terms
            ]
        )
        if scope is None or len(scope.passage_ids or ()) > _MOST_TERMS:
            return any_term
        if scope.passage_ids is None:
            allowed = tantivy.Query.term_set_query(schema, "paper_id", list(scope.paper_ids or ()))
        else:
            allowed = tantivy.Query.term_set_query(schema, "passage_id", sorted(scope.passage_ids))
        is_allowed = tantivy.Query.const_score_query(allowed, 0.0)
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, any_term), (tantivy.Occur.Must, is_allowed)]
        )


class TantivyFiles:
    """The words of the passages in a folder; see `IndexFiles`.

    tantivy counts deleted documents in its statistics until their segment is merged, so scores
    would depend on the history of the index. Therefore the papers are divided into buckets, and
    each segment holds one bucket. If a passage changes, its whole bucket is written again, sorted
    by id. The old segment then has no documents left and is dropped, and the segments are the same
    as in a new index.
    """

    most_changed = float("inf")
    """No limit: an updated index answers like a new one. Segments never change, and other files are
    replaced by a rename."""
    address = ""

    def __init__(self) -> None:
        self._last_read: tuple[bytes, _Buckets] = b"", {}
        """Content of the meta file that was read last, and the buckets of its index."""

    @property
    def identity(self) -> IndexIdentity:
        return IndexIdentity("tantivy", "", fingerprint(*_ANALYSER, WORD))

    def fingerprints(self, folder: Path) -> dict[str, str]:
        buckets = self._read(folder).values()
        return {id_: value for bucket in buckets for id_, value in bucket.items()}

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        """See `IndexFiles`. Writes every bucket again in which a passage was added, changed or
        removed."""
        import tantivy

        old_buckets, new_buckets = self._read(folder), _buckets(rows)
        outdated = [
            bucket
            for bucket in sorted(old_buckets.keys() | new_buckets.keys())
            if old_buckets.get(bucket)
            != {row.passage_id: row.fingerprint for row in new_buckets.get(bucket, [])}
        ]
        index = tantivy.Index(_schema(), str(folder))
        writer = index.writer(_WRITER_HEAP_BYTES, num_threads=1)
        analyser = Analyser()
        n_done, n_to_do = 0, sum(len(new_buckets.get(bucket, [])) for bucket in outdated)
        for bucket in outdated:
            writer.delete_documents_by_term("bucket", bucket)
            bucket_rows = new_buckets.get(bucket, [])
            for row in bucket_rows:
                document = tantivy.Document(
                    bucket=bucket, **{name: getattr(row, name) for name in _STORED}
                )
                own_terms = analyser.terms(row.text)
                other_terms = analyser.terms(f"{row.heading_text}\n{row.summary}")
                document.add_text(_TEXT, _separated(own_terms))
                document.add_text(_WITH_HEADINGS, _separated([*other_terms, *own_terms]))
                writer.add_document(document)
            writer.commit()
            n_done += len(bucket_rows)
            report(n_done, n_to_do)
        writer.wait_merging_threads()

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Passages of the sample that a search for all their words, within their paper, does not
        find. The whole sample, if the statistics count deleted passages: then every score is
        wrong."""
        segments = json.loads((folder / _META_FILE).read_bytes())["segments"]
        if any(
            segment["deletes"] and segment["deletes"]["num_deleted_docs"] for segment in segments
        ):
            return tuple(row.passage_id for row in sample)
        index = TantivyIndex.open(folder)
        return tuple(row.passage_id for row in sample if not index.finds(row))

    def is_complete(self, folder: Path, n_passages: int) -> bool:  # noqa: ARG002 - nothing is outside the folder
        return True

    def open(self, folder: Path) -> TantivyIndex:
        return TantivyIndex.open(folder)

    def _read(self, folder: Path) -> "_Buckets":
        """The buckets of the index in a folder; empty for an empty folder.

        The index that was read last is kept. A copy of its folder is not read again: it has the
        same meta file, so it has the same segments, and tantivy never changes a segment.
        """
        try:
            meta_content = (folder / _META_FILE).read_bytes()
        except FileNotFoundError:
            return {}
        if meta_content != self._last_read[0]:
            buckets: defaultdict[str, dict[str, str]] = defaultdict(dict)
            for document in TantivyIndex.open(folder).documents():
                bucket = buckets[str(document.get_first("bucket"))]
                passage_id = str(document.get_first("passage_id"))
                bucket[passage_id] = str(document.get_first("fingerprint"))
            self._last_read = meta_content, buckets
        return self._last_read[1]


def _schema() -> "tantivy.Schema":
    """The fields of the index. Terms are made by `Analyser`, so tantivy only splits at blanks."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in (*_STORED, "bucket"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    for name in (_TEXT, _WITH_HEADINGS):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _buckets(rows: Mapping[str, IndexRow]) -> dict[str, list[IndexRow]]:
    """The rows by bucket, each bucket sorted by id. The papers of a small corpus share one
    bucket."""
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
    """The terms separated by blanks. The field's tokenizer splits them there again, since terms
    have only letters, digits and hyphens."""
    return " ".join(terms)
