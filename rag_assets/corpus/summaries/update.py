"""Bringing the summaries up to date with the chunks: those that are known are kept, the others are asked for.

A chunk whose summary cannot be had has none until a later run: it is cut into passages and found as without.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.promises import Promise
from rag_assets.core.tables import SUMMARIES, fingerprints_by, map_papers, to_table
from rag_assets.corpus.summaries.summarizer import Document, Part, Summarizer
from rag_assets.hosted.asking import ask_each

logger = logging.getLogger(__name__)
CHUNK_COLUMNS = ["paper_id", "chunk_id", "section_path", "text", "own_start"]
"""What is read of the chunks."""
_DOCUMENT_CHARS = 8_000
"""Beginning of a paper that is read for the summary of the whole."""


@dataclass(frozen=True)
class MissingSummary:
    """A chunk that has none this time, and why."""

    paper_id: str
    chunk_id: str
    why: str


@dataclass(frozen=True)
class SummaryUpdate:
    """The table as it should be published."""

    table: pa.Table
    """Schema SUMMARIES, in the order of the chunks."""
    plan: UpdatePlan
    """By paper."""
    missing: tuple[MissingSummary, ...] = ()
    n_asked: int = 0
    """Chunks whose summary was not published before."""


def without_summaries(published: pa.Table) -> SummaryUpdate:
    """The update where no model is to write any."""
    return SummaryUpdate(SUMMARIES.empty_table(), plan_update(fingerprints_by(published, "paper_id"), {}))


def update_summaries(
    published: pa.Table,
    chunks: pa.Table,
    titles: Mapping[str, str],
    summarizer: Summarizer,
    *,
    n_at_once: int,
    report: Callable[[int, int], None],
) -> SummaryUpdate:
    """Ask about every chunk that is not published as it is, `n_at_once` side by side.

    published: schema SUMMARIES. chunks: `CHUNK_COLUMNS`, sorted by paper, a paper's chunks in order. titles: by
    paper_id. report: called with (done, total). A chunk whose request fails for good has no summary; when the budget is
    spent, access is denied or the provider is down, the chunks that remain have none either.
    """
    known = dict(zip(published["key"].to_pylist(), published["summary"].to_pylist(), strict=True))
    wanted = [
        (document, part, summarizer.key_of(document, part))
        for document, parts in map_papers(chunks, lambda id_, own: _document(id_, own, titles))
        for part in parts
    ]
    to_ask = [(document, part, key) for document, part, key in wanted if key not in known]
    found, whys = _asked(to_ask, summarizer, n_at_once, report)
    summaries = {key: known[key] for _, _, key in wanted if key in known} | found
    table = _table([(document.paper_id, part.chunk_id, key) for document, part, key in wanted], summaries)
    plan = plan_update(fingerprints_by(published, "paper_id"), fingerprints_by(table, "paper_id"))
    missing = [
        MissingSummary(document.paper_id, part.chunk_id, whys[key]) for document, part, key in to_ask if key in whys
    ]
    return SummaryUpdate(table, plan, tuple(missing), len(to_ask) - len(missing))


def _document(paper_id: str, chunks: pa.Table, titles: Mapping[str, str]) -> tuple[Document, list[Part]]:
    rows = chunks.to_pylist()
    texts = (row["text"][row["own_start"] :] for row in rows)
    document = Document(paper_id, titles.get(paper_id, ""), "\n\n".join(_up_to(texts, _DOCUMENT_CHARS)))
    return document, [Part(row["chunk_id"], row["section_path"], row["text"]) for row in rows]


def _up_to(texts: Iterator[str], n_chars: int) -> Iterator[str]:
    """The texts up to so many characters in all."""
    for text in texts:
        if n_chars <= 0:
            return
        yield text[:n_chars]
        n_chars -= len(text)


def _asked(
    to_ask: Sequence[tuple[Document, Part, str]],
    summarizer: Summarizer,
    n_at_once: int,
    report: Callable[[int, int], None],
) -> tuple[dict[str, str], dict[str, str]]:
    """Summaries by key, and why there is none by key."""
    made, left = ask_each(
        ((key, (document, part)) for document, part, key in to_ask),
        lambda one: summarizer.sentence(*one),
        n_at_once,
        lambda n_done: report(n_done, len(to_ask)),
    )
    return made, {key: str(why) for key, why in left.items()}


def _table(wanted: Sequence[tuple[str, str, str]], summaries: Mapping[str, str]) -> pa.Table:
    """wanted: paper_id, chunk_id and key of every chunk."""
    rows = [
        {"paper_id": paper, "chunk_id": chunk, "summary": summaries[key], "key": key}
        for paper, chunk, key in wanted
        if key in summaries
    ]
    of_paper: dict[str, list[list[str]]] = {}
    for row in rows:
        of_paper.setdefault(row["paper_id"], []).append([row["chunk_id"], row["key"], row["summary"]])
    marks = {paper: fingerprint(said) for paper, said in of_paper.items()}
    return to_table([row | {"fingerprint": marks[row["paper_id"]]} for row in rows], SUMMARIES)


SUMMARY_PROMISES: list[Promise[SummaryUpdate]] = [
    Promise(
        "all_summarized",
        "Every chunk has a summary, where summaries.model names a model. A chunk without is searched by its own text, "
        "and the next run asks for it.",
        lambda update: [{"paper_id": one.paper_id, "chunk_id": one.chunk_id, "why": one.why} for one in update.missing],
        "warning",
    ),
]
