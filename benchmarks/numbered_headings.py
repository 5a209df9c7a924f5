"""How many numbered headings of real papers are found when nothing but their text says that they
are headings.

    python benchmarks/numbered_headings.py CORPORA/tei

Every TEI paper with three numbered headings or more is written again as ADE regions, Markdown and
plain text, with all headings as unmarked lines, once as printed ("3 Results") and once with a stop
("3. Results"), which Markdown takes for a list. Found, missed and false headings are counted over
all papers; false are paragraphs and items taken for one.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rag_assets.core.domain import BlockKind, Document
from rag_assets.core.errors import RagAssetsError
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.headings import heading_number
from rag_assets.parsing.formats.tei.document import parse_tei
from rag_assets.parsing.shared.files import RawFile
from rag_assets_testing.papers.outlines import ade_of, from_text, markdown_of

_MIN_HEADINGS = 3
_TEXTS = (BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST)
_NUMBER_WITHOUT_STOP = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\s+")
Write = Callable[[Sequence[str]], Document]


def _text_of(texts: Sequence[str]) -> Document:
    return from_text([(text, []) for text in texts])


FORMATS: dict[str, Write] = {"ADE": ade_of, "Markdown": markdown_of, "text": _text_of}


def main() -> None:
    counts: Counter[tuple[str, str, str]] = Counter()
    n_papers = 0
    for path in sorted(Path(sys.argv[1]).rglob("*.xml")):
        texts = _texts(path)
        headings = [
            text for kind, text in texts if kind is BlockKind.HEADING and heading_number(text)
        ]
        if len(headings) < _MIN_HEADINGS:
            continue
        n_papers += 1
        for style, printed in (("3 Results", str), ("3. Results", _with_stop)):
            wanted = {_key(printed(heading)) for heading in headings}
            for name, write in FORMATS.items():
                document = write([printed(text) for _, text in texts])
                found = {_key(text) for text in _numbered(document)}
                counts[name, style, "found"] += len(wanted & found)
                counts[name, style, "missed"] += len(wanted - found)
                counts[name, style, "false"] += len(found - wanted)
    print(
        f"{n_papers} papers\n\n| format | printed as | found | missed | false |\n|---|---|---:|---:|---:|"
    )
    for name in FORMATS:
        for style in ("3 Results", "3. Results"):
            row = [counts[name, style, outcome] for outcome in ("found", "missed", "false")]
            print(f"| {name} | {style} | " + " | ".join(map(str, row)) + " |")


def _texts(path: Path) -> list[tuple[BlockKind, str]]:
    try:
        document = parse_tei(RawFile(path.stem, path.name, path.read_bytes()), ParsingSettings())
    except RagAssetsError:
        return []
    return [
        (block.kind, block.text)
        for block in document.blocks
        if block.kind in _TEXTS and block.text.strip()
    ]


def _with_stop(text: str) -> str:
    return (
        _NUMBER_WITHOUT_STOP.sub(r"\1. ", text, count=1)
        if _NUMBER_WITHOUT_STOP.match(text)
        else text
    )


def _numbered(document: Document) -> list[str]:
    return [
        block.text
        for block in document.blocks
        if block.kind is BlockKind.HEADING and heading_number(block.text)
    ]


def _key(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


if __name__ == "__main__":
    main()
