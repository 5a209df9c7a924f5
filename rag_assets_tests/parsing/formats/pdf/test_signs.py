"""Signs that a PDF's font does not name, or names as other characters."""

import importlib.util
import io
from functools import lru_cache
from pathlib import Path

import pytest
from fontTools import subset
from fontTools.ttLib import TTFont

from rag_assets.answering.verify.quote_search import find_quote
from rag_assets.core.domain import Document, Verification
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets_testing.papers.contents import read_content

SIGNS = "−±×·÷<>≤≥≈≠=%°µαβχησρ∞→"


@lru_cache
def _font(name: str, characters: str) -> bytes:
    """A free font with some characters; its encoding gives them the codes from 0x21 up, in their
    order."""
    (package,) = importlib.util.find_spec("matplotlib").submodule_search_locations  # type: ignore
    file = Path(package, "mpl-data", "fonts", "ttf", f"{name}.ttf")
    font = TTFont(io.BytesIO(file.read_bytes()))
    options = subset.Options(notdef_outline=True, glyph_names=True, layout_features=[])
    smaller = subset.Subsetter(options)
    smaller.populate(text=characters)
    smaller.subset(font)
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def _cid_font(name: str, characters: str, meaning: dict[str, str]) -> list[bytes]:
    """The objects of a font whose codes are glyph numbers, from number 6 on. meaning: what the font
    says of some characters; it says nothing of the others."""
    content = _font(name, characters)
    font = TTFont(io.BytesIO(content))
    em = font["head"].unitsPerEm
    widths = " ".join(str(round(font["hmtx"][one][0] * 1000 / em)) for one in font.getGlyphOrder())
    entries = "\n".join(
        f"<{code:04x}> <{ord(text):04x}>"
        for shown, text in meaning.items()
        for code in [_code(name, characters, shown)]
    )
    unicode = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def\n"
        f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{len(meaning)} beginbfchar\n{entries}\n"
        "endbfchar\nendcmap end end"
    ).encode()
    said = b"/ToUnicode 10 0 R" if meaning else b""
    return [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+Signs /Encoding /Identity-H "
        b"/DescendantFonts [7 0 R] %s >>" % said,
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+Signs /FontDescriptor 8 0 R /W [0 [{widths}]] "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /CIDToGIDMap /Identity >>".encode(),
        b"<< /Type /FontDescriptor /FontName /ABCDEF+Signs /Flags 4 /FontBBox [-200 -300 1500 1000] "
        b"/ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 /FontFile2 9 0 R >>",
        b"<< /Length %d /Length1 %d >> stream\n%s\nendstream"
        % (len(content), len(content), content),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(unicode), unicode),
    ]


def _code(name: str, characters: str, shown: str) -> int:
    font = TTFont(io.BytesIO(_font(name, characters)))
    return int(font.getGlyphID(font.getBestCmap()[ord(shown)]))


def _read(shown: str, signs: list[bytes], codes: dict[str, str], rotation: int = 0) -> Document:
    """A page in Helvetica, where the characters of `codes` are shown in another font, the objects
    `signs` from number 6 on, by those codes."""
    parts, run = [], ""
    for character in shown:
        if character in codes:
            parts.append(f"/T 12 Tf ({run}) Tj /S 12 Tf {codes[character]} Tj")
            run = ""
        else:
            run += character
    text = f"BT /T 12 Tf 72 700 Td {' '.join(parts)} /T 12 Tf ({run}) Tj ET".encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate {rotation} /Contents 4 0 R "
        "/Resources << /Font << /T 5 0 R /S 6 0 R >> >> >>".encode(),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        *signs,
    ]
    content, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj %s endobj\n" % (number, body)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF"
    )
    return read_content(parse_pdf, "paper.pdf", content + end.encode())


def _with_cid(
    text: str, meaning: dict[str, str], font: str = "DejaVuSerif", rotation: int = 0
) -> Document:
    """A page whose signs are in a font that says `meaning` of them."""
    codes = {one: f"<{_code(font, SIGNS, one):04x}>" for one in SIGNS if one in text}
    return _read(text, _cid_font(font, SIGNS, meaning), codes, rotation)


def _type3(character: str, drawing: str) -> list[bytes]:
    """The objects of a Type 3 font that draws one character, named /a, without Unicode values."""
    draw = f"800 0 0 -200 800 800 d1 {drawing}".encode()
    return [
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 -200 800 800] /FontMatrix [.001 0 0 .001 0 0] "
        b"/CharProcs << /C0 7 0 R >> /Encoding << /Type /Encoding /Differences [%d /C0] >> "
        b"/FirstChar %d /LastChar %d /Widths [800] /Resources << >> >>" % ((ord(character),) * 3),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(draw), draw),
    ]


FONTS = ("DejaVuSerif", "DejaVuSans-Bold", "STIXGeneral", "STIXGeneralBol", "DejaVuSans")
RELATIONS = SIGNS[:14]
HALVES = (SIGNS[: len(SIGNS) // 2], SIGNS[len(SIGNS) // 2 :])
MAPS = {
    "no map": "",
    "control characters": "".join(map(chr, range(1, 32))),
    "letters and brackets": "[\\gBCDZKOXabcdefhijklmnqt",
}


def _signs_of(document: Document) -> list[str]:
    text = " ".join(block.text for block in document.blocks)
    return text.split(": ")[1].removesuffix(" grow.").replace(" 5", "").split()


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize("said", MAPS.values(), ids=MAPS.keys())
def test_signs_are_what_is_drawn_and_no_number_loses_one_in_silence(font: str, said: str) -> None:
    """ "M = −0.10" became "M = 0.10", and was certified word for word."""
    meaning = dict(zip(SIGNS, said, strict=False))
    read = []
    for signs in HALVES:
        text = f"Growth: {' '.join(f'{sign} 5' for sign in signs)} grow."
        read += _signs_of(_with_cid(text, meaning, font))

    assert len(read) == len(SIGNS), "a sign was dropped"
    wrong = [(sign, got) for sign, got in zip(SIGNS, read, strict=True) if got not in (sign, "�")]
    assert [one for one in wrong if one[0] in RELATIONS] == []
    assert len(wrong) <= 1, "a letter of another alphabet, by its wrong name"
    assert sum(got == "�" for got in read) <= 5
    assert "�" not in read[:13], "a sign or relation of numbers"


@pytest.mark.parametrize("rotation", [90, 270])
def test_signs_of_a_page_shown_on_its_side_are_read(rotation: int) -> None:
    """Tables are printed on their side."""
    document = _with_cid("The mill turned from −50 to 50 in a year.", {}, rotation=rotation)

    assert document.blocks[0].text == "The mill turned from −50 to 50 in a year."


@pytest.mark.parametrize("code", ["\\", "!", "\x01", "\x02", "\t"], ids=ascii)
def test_signs_of_a_font_of_drawings_are_read(code: str) -> None:
    """Fonts of old programs have no outlines that a name could be looked up for."""
    signs = _type3(code, "50 240 650 50 re f")
    document = _read(
        "The mill turned from −50 to 50 in a year.", signs, {"−": f"<{ord(code):02x}>"}
    )

    assert document.blocks[0].text == "The mill turned from −50 to 50 in a year."
    assert not document.notes


def test_what_nothing_tells_is_shown_and_noted_and_is_not_word_for_word() -> None:
    """A number beside it may be another than the page prints."""
    signs = _type3("\x01", "0 0 300 700 re f 350 -150 450 300 re f")
    document = _read("The mill turned from −50 to 50 in a year.", signs, {"−": "<01>"})

    text = document.blocks[0].text
    assert text == "The mill turned from �50 to 50 in a year."
    assert [note.split(":")[0] for note in document.notes] == [
        "1 character on page 1 cannot be read, because the fonts do not say what they are"
    ]
    assert [place.verification for place in find_quote(text, text)] == [Verification.UNREAD]


def test_letters_of_a_font_that_spells_words_stay() -> None:
    """An italic "a" is drawn like "α"."""
    text = "The value of a mill is x, and p is its price; o, u and v are others."
    codes = {one: f"<{ord(one):02x}>" for one in "axpouv"}
    italic = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Italic /Encoding /WinAnsiEncoding >>"
    ]

    assert _read(text, italic, codes).blocks[0].text == text
