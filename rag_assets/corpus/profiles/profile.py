"""The profile of one paper, made of its id, its title and its first blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.core.domain import Block
from rag_assets.core.text.names import periods_in, words_of, words_of_file_name

PROFILER_VERSION = 1
"""Raise it when the same paper gets another profile than before."""
_MAX_FIRST_PAGE_CHARS = 2_000
_BLOCKS_WITHOUT_PAGES = 20
"""Blocks that stand for the first page of a document without pages."""


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
    """Years and quarters it is about: those of the file's name, else of the title, else of the first page; sorted."""
    first_page: str
    """Beginning of the first page, for a reader of the table."""


def profile_of(paper_id: str, title: str, blocks: Sequence[Block]) -> Profile:
    """blocks: those of the paper, in reading order; the first ones are enough."""
    first_page = _first_page(blocks)
    stated = (periods_in(text) for text in (_name_with_blanks(paper_id), title, first_page))
    return Profile(
        paper_id=paper_id,
        title=title,
        file_words=tuple(words_of_file_name(paper_id)),
        page_words=tuple(sorted({*words_of(title), *words_of(first_page)})),
        periods=tuple(sorted(next(filter(None, stated), ()))),
        first_page=first_page,
    )


def _first_page(blocks: Sequence[Block]) -> str:
    """Text of the blocks on page 1, or of the first blocks where no block is known to stand there."""
    on_page = [block for block in blocks if block.page_start == 1] or blocks[:_BLOCKS_WITHOUT_PAGES]
    return "\n".join(block.text for block in on_page)[:_MAX_FIRST_PAGE_CHARS]


def _name_with_blanks(paper_id: str) -> str:
    """The file's name with blanks for what separates its words: "_" is a letter to a regular expression."""
    return paper_id.rpartition("/")[2].replace("_", " ")
