"""Numbers of references that ADE wrote onto the word before them: "in one trial32 and", "was exacerbated.29 Oral".

ADE marks some superscripts and writes others as plain digits. Digits behind a word are taken for a reference where
that is proven: the paper has a numbered reference list with that many entries, and the word stands without digits
elsewhere in it ("trial" does, "detectron" in "detectron2" does not).
"""

import re
from collections.abc import Iterable, Sequence

from rag_assets.core.text.section_names import names_references
from rag_assets.parsing.formats.ade.shapes import Region
from rag_assets.parsing.shared.superscripts import raised

_NUMBERS = r"\d{1,3}(?:[,–-]\d{1,3})*"
_AFTER_WORD = re.compile(rf"(?<![\w.@/])([A-Za-z][a-z]{{3,}})({_NUMBERS})(?![\w/%°]|[.,–-]\d)")
_AFTER_STOP = re.compile(
    rf"(?<![\w.@/])([a-z]{{3,}}(?:\)?[,;]|\)?\.(?={_NUMBERS}(?:\s+[A-Z(]|\s*\Z))))({_NUMBERS})(?=\s|\Z)"
)
_RAISED_AFTER_WORD = re.compile(r"(?<=[a-z]{4})(?=[⁰¹²³⁴-⁹])")
_WORD = re.compile(r"(?<!\w)[A-Za-z][a-z]{3,}(?!\w)")
_ENTRY = re.compile(r"^[ \t]*\[?(\d{1,3})[.\]]?\s", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_NOT_TEXT = frozenset({"table", "figure"})
_MIN_REFERENCES = 5


def texts_with_marks_apart(regions: Sequence[Region]) -> list[str]:
    """The texts of the regions, with proven reference numbers raised and apart from the words before them."""
    n_references = _n_references(regions)
    words = {word for region in regions for word in _words(region.text)} if n_references else set()

    def after_word(match: re.Match[str]) -> str:
        word, numbers = match.groups()
        is_mark = word.lower() in words and _are_references(numbers, n_references)
        return f"{word} {raised(numbers)}" if is_mark else match[0]

    def after_stop(match: re.Match[str]) -> str:
        before, numbers = match.groups()
        return before + raised(numbers) if _are_references(numbers, n_references) else match[0]

    def apart(text: str) -> str:
        if n_references:
            text = _AFTER_STOP.sub(after_stop, _AFTER_WORD.sub(after_word, text))
        return _RAISED_AFTER_WORD.sub(" ", text)

    return [region.text if region.kind in _NOT_TEXT else apart(region.text) for region in regions]


def _n_references(regions: Sequence[Region]) -> int:
    """Entries of the numbered list under the last heading that names references; 0 where there is no such list."""
    start = max((at for at, region in enumerate(regions) if _opens_references(region.text)), default=len(regions))
    numbers = {int(match[1]) for region in regions[start:] for match in _ENTRY.finditer(region.text)}
    n = next(n for n in range(len(numbers) + 1) if n + 1 not in numbers)
    return n if n >= _MIN_REFERENCES else 0


def _opens_references(text: str) -> bool:
    lines = (line for line in text.split("\n") if line.strip())
    return names_references(next(lines, "")[:100])


def _words(text: str) -> Iterable[str]:
    return (word.lower() for word in _WORD.findall(text))


def _are_references(numbers: str, n_references: int) -> bool:
    return all(1 <= int(number) <= n_references for number in _NUMBER.findall(numbers))
