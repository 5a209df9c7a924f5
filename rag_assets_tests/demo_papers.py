"""The papers this project wrote for its demo, as test material: prose with citations, formulas,
abbreviations."""

from pathlib import Path

from lxml import etree

FOLDER = Path(__file__).parents[1] / "data" / "papers"


def tei_files() -> list[Path]:
    """The files that are well-formed TEI, with coordinates, with page breaks and with neither."""
    return [
        path
        for path in sorted(FOLDER.rglob("*.xml"))
        if path.name != "citation_verification.tei.xml"
    ]


def paragraphs(path: Path) -> list[str]:
    """Text of every paragraph of the body in order, each on one line; read with lxml alone."""
    found = etree.parse(path).xpath("//*[local-name() = 'body']//*[local-name() = 'p']")
    texts = (" ".join("".join(str(part) for part in one.itertext()).split()) for one in found)
    return [text for text in texts if text]


def texts() -> dict[str, str]:
    """Stem -> the paragraphs of a paper, an empty line between two."""
    return {path.name.partition(".")[0]: "\n\n".join(paragraphs(path)) for path in tei_files()}
