"""The sections of papers that a question names: "in the cash flow statement", "according to the discussion".

A section is named by a noun for parts of documents with the words around it. It is looked for in the headings above a
passage, not in its text: many passages of a report mention the balance sheet, and one table is it.
"""

import re
from functools import cached_property

import numpy as np
import pyarrow as pa

from rag_assets.search.retrieval.filtering import Mask
from rag_assets.search.retrieval.library import Library

_NAMED = re.compile(
    r"\b(?:in|within|on|from|by|using|of|under|see|to) (?:only |primarily |mainly |just )?(?:the|its|their|this|that) "
    r"(?P<name>(?:[\w&-]+ ){0,3}?(?P<noun>statement|sheet|section|chapter|appendix|note|abstract|introduction|"
    r"background|discussion|conclusion|limitation)s?\b(?: of (?:the )?[\w-]+(?: flows?\b)?)?)",
    re.IGNORECASE,
)
_ALONE = frozenset({"abstract", "introduction", "background", "discussion", "conclusion", "limitation"})
"""Nouns that name a section by themselves."""
_NAME_NOTHING = frozenset({"the", "and", "last", "first", "next", "same", "section", "chapter"})
_WORD = re.compile(r"[^\W_]+")
_LEAST_CHARS = 3


class SectionNames:
    """The headings of all published passages; may be used by several threads."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def named_by(self, question: str) -> Mask | None:
        """Which passages stand below a heading that the question names; None where it names none."""
        wanted = sections_named(question)
        if not wanted:
            return None
        paths, column = self._paths
        are_named = [any(_is_below(path, words) for words in wanted) for path in paths]
        return np.array(are_named, np.bool_)[column.indices.to_numpy()] if any(are_named) else None

    @cached_property
    def _paths(self) -> tuple[list[list[str]], pa.DictionaryArray]:
        """The headings of each distinct section path, and the paths by place."""
        column = self._library.passage_column("section_path").dictionary_encode()
        return [[_compact(title) for title in path.split(" > ")] for path in column.dictionary.to_pylist()], column


def sections_named(question: str) -> list[frozenset[str]]:
    """The words of each section that a question names, in small letters and without plural endings."""
    found: list[frozenset[str]] = []
    for match in _NAMED.finditer(question):
        words = [_singular(word.lower()) for word in _WORD.findall(match["name"]) if len(word) >= _LEAST_CHARS]
        telling = frozenset(words) - _NAME_NOTHING
        if len(telling) > 1 or match["noun"].lower() in _ALONE:
            found.append(telling)
    return found


def _is_below(path: list[str], words: frozenset[str]) -> bool:
    """Whether one heading holds all the words. Headings have no spaces here: PDF files put some inside words."""
    return any(all(word in title for word in words) for title in path)


def _compact(title: str) -> str:
    return "".join(_WORD.findall(title)).lower()


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
