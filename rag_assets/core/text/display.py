"""Text of papers, questions and models made safe to show: nothing in it may act on a terminal or a
web page."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Control characters, those that turn the direction of the text around them, and those that no file
of text or XML can hold."""
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&$!]|^[-+=]")
_LIST_NUMBER = re.compile(r"^(\d+)([.)])")
_FORMULA_START = re.compile(r"(?:^|[;,|\t\r\n]\"*)(?=[=+\-@\t\r＝＋－＠])")
"""At the beginning of a cell, and behind what may part cells in the language of a spreadsheet."""


def legible(text: str) -> str:
    """The text without control characters, so that it cannot send commands to a terminal; line ends
    and tabs stay."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def markdown_text(text: str) -> str:
    """The text as one line of Markdown that shows it as it is: no heading, list, link, image or
    HTML in it works."""
    line = _MARKUP.sub(r"\\\g<0>", legible(" ".join(text.split())))
    return _LIST_NUMBER.sub(r"\1\\\2", line)


def no_formula(text: str) -> str:
    """`text` as a spreadsheet takes it for text: an apostrophe before what begins like a
    formula."""
    return _FORMULA_START.sub(r"\g<0>'", text)


def csv_bytes(rows: Iterable[Sequence[str]]) -> bytes:
    """The only CSV that is written: every cell is quoted, none is a formula, and a mark tells that
    it is UTF-8, which spreadsheets do not guess."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows(map(no_formula, row) for row in rows)
    return text.getvalue().encode("utf-8-sig")
