"""The words that every rendering of a report shares."""

from collections.abc import Sequence

from rag_assets.answering.wording import pages_of
from rag_assets.reports.report import Evidence, Gap, Report

EVIDENCE = "Evidence"
PAPERS = "Papers used"
GAPS = "What is missing"
_MOST_PAPERS_NAMED = 20


def gap_sentence(gap: Gap) -> str:
    """What is missing, and what was searched in vain."""
    about = f", of {_listed(gap.about)}" if gap.about else ""
    end = "" if f"{gap.missing}{about}".endswith((".", "?", "!")) else "."
    searched = f' for "{gap.searched}"' if gap.searched != gap.missing else ""
    where = f" in {gap.where}" if gap.where else ""
    return f"{gap.missing}{about}{end} Searched in vain{searched}{where}: {_read(gap)}."


def page_of(one: Evidence) -> str:
    """The page in a table's cell: ", p. 3"; empty where none is known."""
    return f", {pages}" if (pages := pages_of(one.citation)) else ""


def named(label: str, labels: Sequence[str]) -> str:
    """The label before what is told below it; nothing where there is only one."""
    return f"{label}: " if len(labels) > 1 else ""


def made_by(report: Report) -> str:
    by = f" Answers by {' and '.join(report.models)}." if report.models else ""
    return f"Every sentence was checked against the quotes in “{EVIDENCE}”.{by}"


def _read(gap: Gap) -> str:
    if not gap.n_chunks:
        return "nothing was found"
    of = _listed(gap.papers) if not gap.about else "it" if len(gap.about) == 1 else "them"
    return f"{_counted(gap.n_chunks)} of {of}"


def _counted(n_chunks: int) -> str:
    return "1 chunk" if n_chunks == 1 else f"{n_chunks} chunks"


def _listed(papers: Sequence[str]) -> str:
    more = f" and {len(papers) - _MOST_PAPERS_NAMED} more" if len(papers) > _MOST_PAPERS_NAMED else ""
    return f"{', '.join(papers[:_MOST_PAPERS_NAMED])}{more}"
