"""Characters that a PDF's font names otherwise than it shows them."""

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from rag_assets.core.domain import Block
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets_testing.papers.contents import read_content


def blocks(shown: str, meaning: dict[str, str]) -> tuple[Block, ...]:
    """The blocks of a page that shows operators of `shown`, in a font whose `meaning` (ToUnicode) is given for
    some characters."""
    entries = "\n".join(
        f"<{ord(code):02x}> <{text.encode('utf-16-be').hex()}>"
        for code, text in sorted(meaning.items())
    )
    unicode = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(meaning)} beginbfchar\n{entries}\nendbfchar\n"
        "endcmap end end"
    )
    text = f"BT /F 12 Tf 72 700 Td {shown} ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        f"<< /Length {len(text)} >> stream\n{text}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        f"<< /Length {len(unicode)} >> stream\n{unicode}\nendstream",
    ]
    content = "%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj {body} endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    pdf = (
        f"{content}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF"
    )
    return read_content(parse_pdf, "paper.pdf", pdf.encode("latin-1")).blocks


@pytest.mark.parametrize(
    ("shown", "meaning", "text"),
    [
        (
            "(The ~ve mills of the river are ~ne.) Tj",
            {"~": "\uf001"},
            "The five mills of the river are fine.",
        ),
        (
            "(The wind is still, the ^ower stands.) Tj",
            {"^": "\uf002"},
            "The wind is still, the flower stands.",
        ),
        (
            "[(The sta~) 300 ( ) -100 (ed mills grind all night.)] TJ",
            {"~": "ff"},
            "The staffed mills grind all night.",
        ),
    ],
    ids=["a ligature at U+F001", "a ligature at U+F002", "a space hidden under a ligature"],
)
def test_ligatures_are_the_letters_they_show(
    shown: str, meaning: dict[str, str], text: str
) -> None:
    """Otherwise "five" is found under no word that a reader would ask for."""
    assert blocks(shown, meaning)[0].text == text


def test_lam_and_alef_keep_their_order() -> None:
    """PDFium turns the line round, and the two letters of one glyph with it: "السلام" became
    "السالم"."""
    letters = {"a": "ا", "b": "ل", "c": "س", "d": "لا", "e": "م"}

    assert blocks("(edcba) Tj", letters)[0].text == "السلام"


def test_lines_that_run_from_right_to_left_begin_on_the_right() -> None:
    """Their ragged left edges were taken for the indents of new paragraphs, and each line was
    one."""
    full, last = " ".join(["aaaa"] * 12), " ".join(["aaaa"] * 9)
    apart = stringWidth(full, "Helvetica", 12) - stringWidth(last, "Helvetica", 12)

    (block,) = blocks(f"({full}) Tj {apart} -14 Td ({last}) Tj", {"a": "س"})

    assert len(block.text.split()) == 21
