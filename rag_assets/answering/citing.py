"""Answers as readers see them: citations in the style that the user chose, and the list of
references below.

What is stored, and what models are shown, cites papers by authors and year.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag_assets.answering.wording import remarks, worded
from rag_assets.core.domain import Claim, QAResult
from rag_assets.core.settings import NUMERIC, Settings
from rag_assets.corpus.records.citation_styles import Sources, numbered
from rag_assets.corpus.records.published import records_of

_AS_STORED = Sources({}, ())
_RESULT = TypeAdapter(QAResult)


@dataclass(frozen=True, slots=True)
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
    answer = worded(claims, remarks(result)) if claims else result.answer
    return replace(result, claims=claims, nearest=nearest, answer=answer)


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
