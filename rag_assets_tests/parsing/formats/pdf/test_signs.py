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
        b"<< /Length %d /Length1 %d >> stream\n%s\nendstream" % (len(content), len(content), content),
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


def _with_cid(text: str, meaning: dict[str, str], font: str = "DejaVuSerif", rotation: int = 0) -> Document:
    """A page whose signs are in a font that says `meaning` of them."""
    codes = {one: f"<{_code(font, SIGNS, one):04x}>" for one in SIGNS if one in text}
    return _read(text, _cid_font(font, SIGNS, meaning), codes, rotation)


def test_x():
    n=k=0
    for font in ("DejaVuSerif","DejaVuSans-Bold","STIXGeneral","STIXGeneralBol","DejaVuSerif-Bold"):
      for m in ({},dict(zip(SIGNS,"abcdefghijklmnopqrstuvwxyz")),dict(zip(SIGNS,map(chr,range(1,32)))),dict(zip(SIGNS,"\ue001\ue002\ue003\ue004"))):
        t="Signs of the mill: "+" ".join(f"{s} 5" for s in SIGNS)+" grow."
        d=_with_cid(t,m,font); got="\n".join(b.text for b in d.blocks); print(font); print(got, d.notes)
        w=[x for x in t.split() if x in SIGNS]; g=got.split(": ")[1].replace(" 5","").split()
        n+=len(w); k+=sum(a==b for a,b in zip(w,g))
    print(k,n)
