"""A quote where it stands: its chunk, and what is written around it that gives it its meaning."""

from dataclasses import dataclass
from functools import cached_property

from rag_assets.answering.verify.table_quotes.rows import QuotedRows, prose_between, quoted_rows


@dataclass(frozen=True)
class QuotedText:
    """A stretch of a chunk that a claim rests on: `chunk_text[start:end]`."""

    chunk_text: str
    start: int
    end: int
    section_path: str = ""
    title: str = ""
    """Of the paper; empty where it is not known."""

    @property
    def quote(self) -> str:
        return self.chunk_text[self.start : self.end]

    @cached_property
    def rows(self) -> list[QuotedRows]:
        """The rows of tables that the quote touches."""
        return quoted_rows(self.chunk_text, self.start, self.end)

    @cached_property
    def prose(self) -> str:
        """The quote without rows of tables."""
        return prose_between(self.chunk_text, self.start, self.end)

    @cached_property
    def place(self) -> tuple[str, ...]:
        """Title, section, and the captions of its tables."""
        texts = (self.title, self.section_path, *(some.table.caption for some in self.rows))
        return tuple(text for text in texts if text)

    @cached_property
    def frame(self) -> tuple[str, ...]:
        """What a reader of the quote sees around it: its place, and the headers of its tables."""
        return (*self.place, *(column for some in self.rows for column in some.table.columns))
