"""Profiles: what identifies a paper (its title, the words of its file's name, its first page), and
their update.

`search.retrieval` compares questions with them.
"""

from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from rag_assets.core.domain import Block
from rag_assets.core.incremental import fingerprint, plan_update
from rag_assets.core.paper_tables import (
    Made,
    PapersUpdate,
    QuarantinedPaper,
    RowsByPaper,
    none_quarantined,
)
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.tables import PROFILES, blocks_from, packed, to_table, unpacked
from rag_assets.core.text.names import periods_in, words_of, words_of_file_name
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure

PROFILER_VERSION = 4
"""Raise it when the same paper gets another profile than before."""
_MAX_FIRST_PAGE_CHARS = 2_000
_BLOCKS_WITHOUT_PAGES = 20
"""Blocks taken as the first page of a document without pages."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What names a paper."""

    paper_id: str
    title: str
    file_words: tuple[str, ...]
    """Words of the file's name, case folded."""
    page_words: tuple[str, ...]
    """Distinct words of the title and the first page, case folded, sorted."""
    periods: tuple[str, ...]
    """Years and quarters it is about: those of the file's name, else of the title, else of the
    first page; sorted."""
    first_page: str
    """Beginning of the first page, for a reader of the table."""


def profile_of(paper_id: str, title: str, blocks: Sequence[Block]) -> Profile:
    """blocks: those of the paper, in reading order; the first ones are enough."""
    first_page = _first_page(blocks)
    # "_" is a letter to a regular expression, so it becomes a blank in the file's name
    stated = (
        periods_in(text)
        for text in (paper_id.rpartition("/")[2].replace("_", " "), title, first_page)
    )
    return Profile(
        paper_id=paper_id,
        title=title,
        file_words=tuple(words_of_file_name(paper_id)),
        page_words=tuple(sorted({*words_of(title), *words_of(first_page)})),
        periods=tuple(sorted(next(filter(None, stated), ()))),
        first_page=first_page,
    )


def _first_page(blocks: Sequence[Block]) -> str:
    """Text of the blocks on page 1, or of the first blocks if no block is known to be there."""
    on_page = [block for block in blocks if block.page_start == 1] or blocks[:_BLOCKS_WITHOUT_PAGES]
    return "\n".join(block.text for block in on_page)[:_MAX_FIRST_PAGE_CHARS]


_MOST_BLOCKS = 200
"""A first page has fewer."""


def update_profiles(
    published: RowsByPaper, blocks: RowsByPaper, titles: Mapping[str, str | None], spread: Spread
) -> PapersUpdate:
    """Bring the profiles up to date with the papers that have blocks.

    `published`: schema PROFILES. `blocks`: schema BLOCKS, a paper's rows in order. `titles`: by
    paper_id. `spread`: does the work on papers.
    """
    wanted = {
        paper: fingerprint(made_of, titles.get(paper), PROFILER_VERSION)
        for paper, made_of in blocks.papers.items()
    }
    plan = plan_update(published.known, wanted)

    def made() -> Generator[tuple[str, Made]]:
        papers = (
            PaperToProfile(
                paper,
                own["file_path"][0].as_py(),
                titles.get(paper) or "",
                packed(own.slice(0, _MOST_BLOCKS)),
            )
            for paper, own in blocks.rows(plan.to_build)
        )
        with closing(spread(_profile, papers)) as results:
            for paper, row in results:
                mark = wanted[paper.paper_id]
                if isinstance(row, Failure):
                    yield (
                        paper.paper_id,
                        QuarantinedPaper.lost(paper.paper_id, paper.file_path, row, mark),
                    )
                else:
                    yield paper.paper_id, to_table([row | {"fingerprint": mark}], PROFILES)

    return PapersUpdate(plan, wanted, made())


class PaperToProfile(NamedTuple):
    """A paper as it is sent to a worker."""

    paper_id: str
    file_path: str
    title: str
    blocks: bytes
    """Packed rows of its first blocks."""


def _profile(paper: PaperToProfile) -> dict[str, Any]:
    return asdict(profile_of(paper.paper_id, paper.title, blocks_from(unpacked(paper.blocks))))


@dataclass(frozen=True)
class ProfilesCandidate:
    """Papers of profiles before publication."""

    profiles: Sequence[str]
    """paper_id of each profile."""
    papers: Collection[str]
    """paper_id of each paper with blocks."""
    quarantined: Sequence[QuarantinedPaper] = ()


def _not_one_each(candidate: ProfilesCandidate) -> Offenders:
    """Papers with blocks that have no profile or several, and profiles of no paper."""
    lost = {paper.paper_id for paper in candidate.quarantined}
    found, wanted = Counter(candidate.profiles), {*candidate.papers} - lost
    return [
        {"paper_id": paper, "n_profiles": found[paper], "has_text": paper in wanted}
        for paper in sorted(found.keys() | wanted)
        if found[paper] != (paper in wanted)
    ]


PROFILE_PROMISES: list[Promise[Any]] = [
    Promise(
        "one_per_paper",
        "Every paper with text has one profile, and no other paper has one.",
        _not_one_each,
    ),
    none_quarantined(
        "Every paper can be profiled. Each that cannot is listed with the reason; the others go on."
    ),
]
