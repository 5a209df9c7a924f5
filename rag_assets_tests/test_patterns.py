"""No regular expression takes a time that grows faster than the text it reads."""

from functools import partial

from rag_assets.core.settings.stages import ParseLimits
from rag_assets.core.workforce.processes import LocalProcesses
from rag_assets_tests.worst_texts import Use, is_bad, patterns_in_use

_FOR_SHORT_TEXTS = {
    "rag_assets.core.text.works._AFTER_DOI": "what `_DOI` found, or 300 characters",
    "rag_assets.parsing.shared.heading_lines._LINK": "lines of 200 characters",
    "rag_assets.parsing.shared.heading_lines._PAGE": "lines of 200 characters",
    "rag_assets.search.retrieval.known_papers._BEFORE": "80 characters before a name",
}
"""Patterns whose callers hand them a piece of bounded length, and which."""


def _slow() -> dict[str, str]:
    """Name and worst text of the patterns that are not linear."""
    work = partial(is_bad, most_items=0, most_variants=0)
    uses = [use for use in patterns_in_use() if use.name not in _FOR_SHORT_TEXTS]
    assert len(uses) > 400, "most patterns were not found, so nothing would be proven"
    processes = LocalProcesses(1)
    try:
        found = processes.map(work, uses, ParseLimits(timeout_s=10))
        return {use.name: str(problem) for use, problem in found if problem}
    finally:
        processes.close()


def test_a_pattern_that_is_not_linear_is_found() -> None:
    """Without this, the next test could pass because it sees nothing."""
    named = partial(Use, flags=0, name="one", methods=("search",))

    problems = [
        is_bad(named(pattern), 0, 0) for pattern in (r"\S+@\S+", r"\s*\[", r"\d{1,9}@", r"\[a")
    ]

    assert [bool(problem) for problem in problems] == [True, True, False, False]


def test_each_pattern_takes_a_time_that_grows_with_the_length_of_the_text() -> None:
    """One paper with a word of 200,000 letters, or a page of blanks, would stop all others for
    minutes or hours; no signal ends a search."""
    assert _slow() == {}
