"""An answer in words: its claims with the places they come from, what a reader must know about them,
and the list of references.

What is stored, and what models are shown, cites papers by authors and year; readers see the style
that the user chose.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag_assets.answering.drafts import (
    FEW_SOURCES_NOTE,
    FURTHER,
    INSUFFICIENT,
    NOT_ASKED,
    NOT_JUDGED,
    NOT_READ,
    OF_OTHERS,
    REFUSAL,
    SINGLE_SOURCE_NOTE,
    UNVERIFIED,
    WITHHELD,
)
from rag_assets.answering.verify.quoted_text import SEPARATOR
from rag_assets.answering.verify.verification import n_works
from rag_assets.core.domain import Citation, CitedWork, Claim, QAResult, Verification
from rag_assets.core.settings import NUMERIC, Settings
from rag_assets.corpus.records.citation_styles import Sources, numbered
from rag_assets.corpus.records.published import records_of

_TOLD_AS_THEY_ARE = (OF_OTHERS, NOT_JUDGED, NOT_ASKED, UNVERIFIED, FURTHER)
UNANSWERED_NOTE = "No sentence was found for: {part}"
MISSING_NAME_NOTE = "No passage that was found names {names}."
LEFT_OUT_NOTE = "One statement was left out, because its quotes do not carry it."
LEFT_OUT_NOTES = "{n} statements were left out, because their quotes do not carry them."
SOME_UNJUDGED_NOTE = "{n} of these statements were compared with their quotes by rules alone: the second look passed over them."
RULES_ALONE_NOTE = "The statements were compared with their quotes by rules alone: no model could take a second look."
PARTLY, DOUBTED = "in part", "doubted"
"""In the mark of a claim that its quotes carry in part only, and of one that something speaks
against."""
SELF_JUDGED_NOTE = "One model wrote these statements and compared them with their quotes."
_NOT_FOUND = INSUFFICIENT + " Not found in the {read}: “{part}”"
_PART_NOT_FOUND = INSUFFICIENT + " A part of the question was not found in the {read}."
ONLY_CITED_NOTE = "Only cited here, by {paper}: “{entry}”"
REPORTED = "reported"
"""In the mark of a claim that is a finding of other works, which the quoted paper reports."""
RETRACTED = "retracted"
"""Behind the place of a quote whose paper is known to be retracted."""
_READ_THERE = {
    Verification.UNPLACED: "the words are in the paper; read the row in the table",
    Verification.UNREAD: "a sign of it (\ufffd) could not be read in the PDF; read it on the page",
}
"""The note on a quote from a table row, where it is not certain whose values the row holds."""
_MAX_ENTRY_CHARS, _MOST_ENTRIES = 160, 3
NEAR_AN_ANSWER = "Near the question, and no part of the answer:"
NEAR_A_REFUSAL = "Nearest sentences, which may not answer it:"
AI_WRITTEN = "AI-written"
_IN_BRACKETS = re.compile(r"([(\[])((?:[^()\[\]]|\([^()]*\)|\[[^\[\]]*\])+)([)\]])")
"""A title in the place of authors may have brackets of its own."""


def answer_of(result: QAResult) -> str:
    """The lead of a result, if it has one, then its claims in words with its remarks; the fixed
    sentence where it has none."""
    if result.claims:
        lead = " ".join(one.text for one in result.lead)
        told = worded(result.claims, remarks(result))
        return f"{lead}\n\n{told}" if lead else told
    if result.withheld:
        return result.answer if result.answer.startswith(UNVERIFIED) else WITHHELD
    return NOT_READ if result.answer == NOT_READ else REFUSAL


def worded(claims: Sequence[Claim], remarks: Sequence[str]) -> str:
    """The claims with the places they come from, then the remarks. Places that the next claim has
    too are told once, behind the last of such claims."""
    marks = [_mark(claim) for claim in claims]
    sentences = [
        claim.text if mark == following else f"{claim.text} {mark}"
        for claim, mark, following in zip(claims, marks, [*marks[1:], ""], strict=True)
    ]
    return " ".join([*sentences, *remarks])


def _mark(claim: Claim) -> str:
    framed = [_framed(citation) for citation in claim.citations]
    opening, closing = next(
        ((opening, closing) for opening, _, closing in framed if opening), ("[", "]")
    )
    places = dict.fromkeys(
        f"{place}, {RETRACTED}" if citation.is_retracted else place
        for (_, place, _), citation in zip(framed, claim.citations, strict=True)
    )
    reported = [REPORTED] if claim.reported else []
    return f"{opening}{'; '.join([*places, *filter(None, [_support_mark(claim)]), *reported])}{closing}"


def _support_mark(claim: Claim) -> str:
    if claim.support is None:
        return ""
    return PARTLY if claim.support.is_partial else DOUBTED if claim.support.why else ""


def place_of(citation: Citation) -> str:
    """ "Lund & Moe (2019), p. 3", "Lund (2019), pp. 3-4", "smith2020, p. 2 (printed 118)"; without
    pages where none is known, and with the id of a paper whose authors are not known. In the
    brackets of its style: "[1, p. 3]".

    ", AI-written" follows where the quote is no author's: a figure's description by a model.
    """
    return "".join(_framed(citation))


def _framed(citation: Citation) -> tuple[str, str, str]:
    """The place, and the brackets around it that the style of citing has, empty where it has
    none."""
    name = citation.cited_as or citation.paper_id
    in_brackets = _IN_BRACKETS.fullmatch(name)
    opening, name, closing = in_brackets.groups() if in_brackets else ("", name, "")
    pages = [found] if (found := citation.page_words) else []
    return (
        opening,
        ", ".join([name, *pages, *([AI_WRITTEN] if citation.is_generated else [])]),
        closing,
    )


def remarks(result: QAResult) -> list[str]:
    """Notes of the answer besides its claims: open parts, claims left out, and how far it was
    checked."""
    found = [
        part
        if INSUFFICIENT in part or part.startswith(_TOLD_AS_THEY_ARE)
        else UNANSWERED_NOTE.format(part=part)
        for part in result.unanswered
    ]
    found += _missing_notes(result.missing_names)
    if result.single_source and len(result.named_papers) != 1:
        n_papers = n_works(result.claims)
        found.append(SINGLE_SOURCE_NOTE if n_papers == 1 else f"Only {n_papers} {FEW_SOURCES_NOTE}")
    found += _left_out_note(result)
    if result.unjudged:
        judged = [claim.judged for claim in result.claims if not claim.is_quote]
        n_silent = judged.count(None)
        is_partial = n_silent < len(judged)
        found.append(SOME_UNJUDGED_NOTE.format(n=n_silent) if is_partial else RULES_ALONE_NOTE)
    elif result.is_self_judged:
        found.append(SELF_JUDGED_NOTE)
    return found


def notes_of(result: QAResult) -> list[str]:
    """Notes below the claims, or below the fixed sentence where there are none: the remarks, then
    each statement that was left out, with the reason."""
    if not result.claims:
        said = [*result.unanswered, *_missing_notes(result.missing_names)]
        said += _left_out_note(result)
    else:
        said = remarks(result)
    return [*said, *(f'Left out: "{one.claim}" ({one.why}).' for one in result.left_out)]


def _left_out_note(result: QAResult) -> list[str]:
    n_left_out = len(result.left_out)
    if not n_left_out:
        return []
    return [LEFT_OUT_NOTE if n_left_out == 1 else LEFT_OUT_NOTES.format(n=n_left_out)]


def claim_note(claim: Claim) -> str:
    """The note on a claim that its quotes support in part or that is doubted, with the reason, that
    is computed from them, that quotes a row whose values may be another's, that its quotes report of other works, or whose paper is
    retracted; empty for any other."""
    computed = (
        [f"computed: {'; '.join(claim.computed)}"] if claim.computed else []
    )  # "computed: 3.3 = 12.4 - 9.1"
    unplaced = [
        note
        for note in dict.fromkeys(row_note(one.verification) for one in claim.citations)
        if note
    ]
    works = (
        [] if SEPARATOR in claim.text else claim.reported[:_MOST_ENTRIES]
    )  # a row may cite a work in each cell
    reported = [f"reports {' and '.join(map(_entry, works))}"] if works else []
    names = dict.fromkeys(
        one.cited_as or one.paper_id for one in claim.citations if one.is_retracted
    )
    retracted = [f"{RETRACTED}: {' and '.join(names)}"] if names else []
    mark = _support_mark(claim)
    marked = (
        [f"{mark}: {why}" if (why := claim.support.why) else mark] if claim.support and mark else []
    )
    return "; ".join([*marked, *computed, *unplaced, *reported, *retracted])


def row_note(verification: Verification | None) -> str:
    """The note on a quote of which it is not certain whose values it holds, or of which a sign could
    not be read; empty for any other."""
    return _READ_THERE.get(verification, "") if verification else ""


def _entry(work: CitedWork) -> str:
    """An entry of a reference list, shortened, and the paper of this corpus that it is."""
    return f"“{_shortened(work.text)}”" + (
        f" (in this corpus: {work.paper_id})" if work.paper_id else ""
    )


def _shortened(entry: str) -> str:
    return (
        f"{entry[:_MAX_ENTRY_CHARS].rsplit(' ', 1)[0]} …"
        if len(entry) > _MAX_ENTRY_CHARS
        else entry
    )


def only_cited_notes(entries: Sequence[tuple[str, str]]) -> list[str]:
    """Notes on a work that is no paper here. entries: how a paper is cited, and the entry in its
    reference list."""
    return [
        ONLY_CITED_NOTE.format(entry=_shortened(entry), paper=paper) for paper, entry in entries
    ]


def not_found_notes(missing: Sequence[str], n_read: int) -> list[str]:
    """Notes on parts of the question that a model found nothing about. n_read: passages it read;
    what stands elsewhere in the papers is not known."""
    read = "one passage that was read" if n_read == 1 else f"{n_read} passages that were read"
    return [
        _NOT_FOUND.format(read=read, part=part) if part else _PART_NOT_FOUND.format(read=read)
        for part in missing
    ]


def not_asked_note(part: str, why: str) -> str:
    """why: the limit that was reached, or what the model did; empty where it refused the
    request."""
    return f"{NOT_ASKED}“{part}” {why or 'The model refused the request.'}"


def nearest_heading(result: QAResult) -> str:
    return NEAR_AN_ANSWER if result.claims else NEAR_A_REFUSAL


def _missing_notes(names: Sequence[str]) -> list[str]:
    quoted = " or ".join(f'"{name}"' for name in names)
    return [MISSING_NAME_NOTE.format(names=quoted)] if names else []


_AS_STORED = Sources({}, ())
_RESULT = TypeAdapter(QAResult)


@dataclass(frozen=True)
class Shown:
    """Answers in the words of a style."""

    results: tuple[QAResult, ...]
    references: tuple[str, ...]
    """The papers that they cite; empty where papers are cited by authors and year."""


class CitationStyle:
    """The style that the settings name; may be used by several threads."""

    def __init__(self, settings: Settings) -> None:
        self._paths = settings.paths
        self._is_numeric = settings.answering.citation_style == NUMERIC

    def shown(self, results: Sequence[QAResult]) -> Shown:
        """The answers with one list of references for all. Raises as `sources`."""
        claims = [
            claim
            for told in ("claims", "nearest")
            for result in results
            for claim in getattr(result, told)
        ]
        sources = self.sources(
            citation.paper_id for claim in claims for citation in claim.citations
        )
        return Shown(
            tuple(renamed(result, sources.names) for result in results), sources.references
        )

    def shown_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row of qa.jsonl in the words of the style, with its `references`; as it is stored where
        it has another form."""
        stored = dict(row) | {"references": ()}
        if not self._is_numeric:
            return stored
        try:
            shown = self.shown([_RESULT.validate_python(row)])
        except ValidationError:
            return stored
        return asdict(shown.results[0]) | {"references": shown.references}

    def sources(self, paper_ids: Iterable[str]) -> Sources:
        """Papers as the style cites them, numbered in their order. Raises MissingInput when there
        are no records."""
        return numbered(records_of(self._paths, paper_ids)) if self._is_numeric else _AS_STORED


def renamed(result: QAResult, names: Mapping[str, str]) -> QAResult:
    """The answer with other names for its papers, by id; the same without any."""
    if not names:
        return result
    claims, nearest = (
        tuple(_renamed(one, names) for one in told) for told in (result.claims, result.nearest)
    )
    shown = replace(result, claims=claims, nearest=nearest)
    return replace(shown, answer=answer_of(shown)) if claims else shown


def _renamed(claim: Claim, names: Mapping[str, str]) -> Claim:
    cited = (
        replace(one, cited_as=names.get(one.paper_id, one.cited_as)) for one in claim.citations
    )
    return replace(claim, citations=tuple(cited))


def papers_cited(results: Iterable[QAResult]) -> list[str]:
    """Ids of the papers that answers cite, in the order of their first citation."""
    cited = (
        one.paper_id for result in results for claim in result.claims for one in claim.citations
    )
    return list(dict.fromkeys(cited))
