"""Makes text of papers, questions and models safe to show, so that it cannot control a terminal, a
Markdown page or a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Control characters, characters that change the direction of text, and characters that cannot be
written to a text file or XML."""
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&$!]|^[-+=]")
_LIST_NUMBER = re.compile(r"^(\d+)([.)])")
_FORMULA_START = re.compile(r"(?:^|[;,|\t\r\n]\"*)(?=[=+\-@\t\r＝＋－＠])")
"""A place where a formula may begin: the start of a cell, or after a sign that separates cells in
some countries."""


def legible(text: str) -> str:
    """The text without control characters, so that it cannot send commands to a terminal; line ends
    and tabs stay."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def markdown_text(text: str) -> str:
    """The text as one line of Markdown in which every character is shown as it is: no heading,
    list, link, image or HTML."""
    line = _MARKUP.sub(r"\\\g<0>", legible(" ".join(text.split())))
    return _LIST_NUMBER.sub(r"\1\\\2", line)


def no_formula(text: str) -> str:
    """The text with an apostrophe before each place where a formula may begin, so that a
    spreadsheet reads it as text."""
    return _FORMULA_START.sub(r"\g<0>'", text)


def csv_bytes(rows: Iterable[Sequence[str]]) -> bytes:
    """The rows as CSV: every cell is quoted, none is a formula, and a byte order mark tells
    spreadsheets that it is UTF-8. All CSV files are written by this function."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows(map(no_formula, row) for row in rows)
    return text.getvalue().encode("utf-8-sig")


_ADDRESS = re.compile(r"//|\w\.[^\W\d_]{2,}\b")
"""A scheme, or a point between words: "https://osf.io", "bob@osf.io"."""
_AROUND_ADDRESSES = "\"'“”‘’`*_.,;:!?()[]{}<>"


def _addresses_in(text: str) -> Iterator[str]:
    """Yields the words of a text that a reader may open as a web or mail address."""
    words = (word.strip(_AROUND_ADDRESSES) for word in text.split())
    return (word for word in words if _ADDRESS.search(word))


def addresses_missing_in(claim: str, texts: Sequence[str]) -> Iterator[str]:
    """Yields the addresses of a claim that are in none of the texts. A text may break an address at
    any character, as lines do."""
    for address in _addresses_in(claim):
        letters = r"\s?".join(map(re.escape, address))
        here = re.compile(rf"(?<!\w){letters}(?!\w)", re.IGNORECASE)
        if not any(map(here.search, texts)):
            yield address


def without_addresses(text: str) -> str:
    """The text with a word in place of each address, so that a reader cannot open it."""
    for address in _addresses_in(text):
        text = text.replace(address, "(address)")
    return text
