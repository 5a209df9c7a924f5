"""The words that every rendering of a report shares."""

from rag_assets.answering.wording import pages_of
from rag_assets.reports.report import Evidence, Gap, Report

EVIDENCE = "Evidence"
PAPERS = "Papers used"
GAPS = "What is missing"
_MOST_PAPERS_NAMED = 8


def gap_sentence(gap: Gap) -> str:
    """What is missing, and what was searched in vain."""
    searched = f' Searched: "{gap.searched}"' + (f" in {gap.where}" if gap.where else "")
    end = "" if gap.missing.endswith((".", "?", "!")) else "."
    return f"{gap.missing}{end}{searched}; {_read(gap)}"


def page_of(one: Evidence) -> str:
    """The page in a table's cell: ", p. 3"; empty where none is known."""
    return f", {pages}" if (pages := pages_of(one.citation)) else ""


def made_by(report: Report) -> str:
    return f"Every sentence was checked against the quotes in “{EVIDENCE}”. Answers by {report.model.split()[0]}."


def _read(gap: Gap) -> str:
    if not gap.n_chunks:
        return "nothing was found."
    shown = ", ".join(gap.papers[:_MOST_PAPERS_NAMED])
    more = f" and {len(gap.papers) - _MOST_PAPERS_NAMED} more" if len(gap.papers) > _MOST_PAPERS_NAMED else ""
    return f"{gap.n_chunks} chunks of {shown}{more} were read."
