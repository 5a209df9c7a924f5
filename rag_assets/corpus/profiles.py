"""Makes profiles: the texts that identify a paper (its title, the words of its file's name, its
first page).

`search.retrieval` compares questions with them to find the papers that a question names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.core.domain import Block
from rag_assets.core.paper_tables import PapersUpdate, RowsByPaper, none_quarantined
from rag_assets.core.promises import Promise
from rag_assets.core.tables import PROFILES, blocks_from, packed, to_table, unpacked
from rag_assets.core.text.names import periods_in, words_of, words_of_file_name
from rag_assets.core.workforce.workforce import Spread
from rag_assets.corpus.each_paper import PaperJob, update_each

PROFILER_VERSION = 4
"""Raise it when the same paper gets another profile than before."""
_MAX_FIRST_PAGE_CHARS = 2_000
_BLOCKS_WITHOUT_PAGES = 20
"""Blocks taken as the first page of a document without pages."""
_MOST_BLOCKS = 200
"""Blocks of a paper that are read for its profile; no first page has more."""


@dataclass(frozen=True)
class Profile:
    """What identifies one paper."""

    paper_id: str
    title: str
    file_words: tuple[str, ...]
    """Words of the file's name, in small letters (case folded)."""
    page_words: tuple[str, ...]
    """Different words of the title and the first page, case folded and sorted."""
    periods: tuple[str, ...]
    """Years and quarters that the paper is about, sorted. They are read from the file's name, else
    from the title, else from the first page."""
    first_page: str
    """Beginning of the first page, for people who read the table."""


def profile_of(paper_id: str, title: str, blocks: Sequence[Block]) -> Profile:
    """The profile of a paper. blocks: the blocks of the paper in reading order, at least those of
    its first page."""
    first_blocks = [block for block in blocks if block.page_start == 1] or blocks[
        :_BLOCKS_WITHOUT_PAGES
    ]
    first_page = "\n".join(block.text for block in first_blocks)[:_MAX_FIRST_PAGE_CHARS]
    # "_" is a letter to a regular expression, so it becomes a blank in the file's name
    file_name = paper_id.rpartition("/")[2].replace("_", " ")
    periods = periods_in(file_name) or periods_in(title) or periods_in(first_page)
    return Profile(
        paper_id=paper_id,
        title=title,
        file_words=tuple(words_of_file_name(paper_id)),
        page_words=tuple(sorted({*words_of(title), *words_of(first_page)})),
        periods=tuple(sorted(periods)),
        first_page=first_page,
    )


def update_profiles(
    published: RowsByPaper, blocks: RowsByPaper, titles: Mapping[str, str | None], spread: Spread
) -> PapersUpdate:
    """Bring the profiles up to date with the papers that have blocks; see `update_each`.

    `published`: schema PROFILES. `blocks`: schema BLOCKS. `titles`: by paper_id.
    """
    return update_each(
        published,
        blocks,
        lambda paper: [titles.get(paper), PROFILER_VERSION],
        _packed_profile,
        spread,
        texts=lambda paper: (titles.get(paper) or "", {}),
        n_rows=_MOST_BLOCKS,
    )


def _packed_profile(job: PaperJob) -> bytes:
    profile = profile_of(job.paper_id, job.title, blocks_from(unpacked(job.packed)))
    return packed(to_table([asdict(profile) | {"fingerprint": job.fingerprint}], PROFILES))


PROFILE_PROMISES: list[Promise[Any]] = [
    Promise(
        "one_per_paper",
        "Every paper with text has one profile, and no other paper has one.",
        lambda candidate: candidate.not_one_each,
    ),
    none_quarantined(
        "Every paper can be profiled. Each that cannot is listed with the reason; the others go on."
    ),
]
