"""One small paper per format, written here, with tables, figures, footnotes, lists, pages and
several scripts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reportlab.pdfgen.canvas import Canvas

from rag_assets_testing.papers.ade import V2Writer, legacy_file, v1_cell, v1_chunk, v1_file
from rag_assets_testing.papers.docling import DoclingWriter, cell, prov
from rag_assets_testing.papers.pdf import heading, lines, prose, write_pdf
from rag_assets_testing.papers.tei import SURFACES, WORDS, tei

_TABLE = [["Drug", "Dose (mg)", "Response (%)"], ["BX-11", "20", "38"], ["BX-12", "40", "<0.05"]]
_SCRIPTS = "Железо убывает зимой. 鉄は冬に減る。 الحديد يقل في الشتاء. लोहा घटता है। เหล็กลดลง e\u0301 \U0001f411."

_TEI_ROWS = "".join(
    f"<row>{''.join(f'<cell>{text}</cell>' for text in row)}</row>" for row in _TABLE[:2]
)
_TEI_BODY = f"""<div><head n="1">Introduction</head><p coords="1,72,60,400,120">{WORDS}
<ref coords="1,80,70,9,9">[1]</ref> {WORDS}</p></div><div><head n="2.1">Methods</head>
<p coords="2,72,60,400,120;3,72,60,400,20">{WORDS * 12}</p><list><item>One arm.</item><item>Two arms.</item></list>
<formula coords="2,72,300,40,10">x = y<label>(1)</label></formula><p>{_SCRIPTS}</p></div>
<figure xml:id="f1" coords="2,72,400,90,90"><head>Figure 1</head><figDesc>Ferritin over time.</figDesc></figure>
<figure type="table" coords="3,72,90,90,90"><head>Table 1</head><table>{_TEI_ROWS}</table></figure>
<note place="foot" n="1" coords="2,72,700,90,9">A footnote.</note>"""
_TEI_BACK = """<div type="acknowledgement"><head>Thanks</head><p>We thank the sheep.</p></div><div type="references">
<listBibl><biblStruct><analytic><title>Sheep</title></analytic></biblStruct></listBibl></div>"""
TEI = tei(_TEI_BODY, back=_TEI_BACK, abstract=f"<p>{WORDS}</p>", facsimile=SURFACES)
TEI_WITH_BREAKS = tei(
    f'<div><head>1. Results</head><pb n="117"/><p>{WORDS * 3}<pb n="118"/>{WORDS}</p></div>'
)
MARKDOWN = f"""---
title: Iron in Winter
---
# Iron in Winter

## 1. Introduction

{WORDS * 9}

* one item
* another
  1. nested

| Drug | Dose (mg) |
|:-----|----------:|
| BX-11 | 20 |
| BX-12 | 40 |

<table><tr><th>Arm</th></tr><tr><td rowspan="2">one</td></tr></table>

```python
for sheep in flock: count(sheep)
```

> {_SCRIPTS}

$$ x = y^2 $$

## References

[1] Doe J. Sheep. 2020.
"""
TEXT = f"""Iron in Winter

1. Introduction

{WORDS * 9}

  - one item
  - another

\f2.1 Methods

{_SCRIPTS}
{WORDS}
\fReferences

[1] Doe J. Sheep. 2020.
"""


def ade_v1() -> dict[str, Any]:
    rows = [
        "".join(f"<td id='t-{row}{col}'>{text}</td>" for col, text in enumerate(_TABLE[row]))
        for row in range(3)
    ]
    html = "".join(f"<tr>{row}</tr>" for row in rows)
    cells = {
        f"t-{row}{col}": v1_cell(1, 0.1 * col, 0.1 * row) for row in range(3) for col in range(3)
    }
    return v1_file(
        [
            v1_chunk("marginalia", "Journal of Sheep", top=0.01),
            v1_chunk("text", "# Iron in Winter", top=0.05),
            v1_chunk("text", "1. Introduction", top=0.2),
            v1_chunk("text", WORDS * 3),
            v1_chunk("figure", "<::A bar chart: figure::>\n\nFigure 1: Ferritin.", top=0.6),
            v1_chunk("table", f"Table 1: Doses.\n\n<table>{html}</table>", 1),
            v1_chunk("text", _SCRIPTS, 1, top=0.5),
            v1_chunk("text", "## References", 1, top=0.7),
            v1_chunk("text", "[1] Doe J. Sheep. 2020.", 1, top=0.8),
        ],
        cells,
    )


def ade_v2() -> dict[str, Any]:
    writer = V2Writer()
    for text in ("# Iron in Winter", "## Methods"):
        writer.page()
        writer.element("text", text)
        writer.element("text", WORDS * 2)
        writer.table(_TABLE)
    return writer.file()


def docling() -> dict[str, Any]:
    writer = DoclingWriter()
    writer.text(
        "page_header",
        "Journal of Sheep",
        content_layer="furniture",
        prov=[prov(1, 10, 390, 90, 380)],
    )
    writer.text("title", "Iron in Winter", prov=[prov(1, 20, 350, 180, 340)])
    writer.text("section_header", "1. Introduction", level=1, prov=[prov(1, 20, 330, 180, 320)])
    writer.text(
        "text",
        WORDS * 2,
        prov=[
            prov(1, 20, 300, 180, 40, (0, len(WORDS))),
            prov(2, 20, 380, 180, 300, (len(WORDS), 2 * len(WORDS))),
        ],
    )
    items = writer.add("groups", label="list")
    for text in ("one item", "another"):
        writer.text(
            "list_item", text, items, marker="-", enumerated=False, prov=[prov(2, 20, 290, 90, 280)]
        )
    caption = writer.text("caption", "Table 1: Doses.", prov=[prov(2, 20, 250, 90, 240)])
    grid = [
        cell(row, col, text) for row, texts in enumerate(_TABLE) for col, text in enumerate(texts)
    ]
    writer.add(
        "tables",
        label="table",
        data={"table_cells": grid, "num_rows": 3, "num_cols": 3},
        captions=[{"$ref": caption["self_ref"]}],
        prov=[prov(2, 20, 240, 180, 200)],
    )
    writer.text("footnote", "A footnote.", prov=[prov(2, 20, 30, 90, 20)])
    writer.text("text", _SCRIPTS, prov=[prov(2, 20, 150, 180, 100)])
    return writer.json


def _pages() -> list[Callable[[Canvas], None]]:
    def first(canvas: Canvas) -> None:
        lines(canvas, "Journal of Sheep", top=20)
        lines(canvas, prose("ferritin", 9), top=heading(canvas, "1. Introduction", top=90))
        lines(canvas, prose("sheep", 20), left=320, top=100)

    def second(canvas: Canvas) -> None:
        lines(canvas, "Journal of Sheep", top=20)
        lines(canvas, prose("altitude", 30), top=heading(canvas, "2. Methods", top=60))
        lines(canvas, "[1] Doe J. Sheep. 2020.", top=heading(canvas, "References", top=600))

    return [first, second]


def write_samples(folder: Path) -> list[Path]:
    """Write one paper per format, or per family of a format, into `folder`; sorted by name."""
    for name, text in (
        ("a.tei.xml", TEI),
        ("b.tei.xml", TEI_WITH_BREAKS),
        ("c.md", MARKDOWN),
        ("d.txt", TEXT),
        ("e.ade.json", json.dumps(ade_v1())),
        ("f.ade.json", json.dumps(ade_v2())),
        ("g.ade.json", json.dumps(legacy_file())),
        ("h.docling.json", json.dumps(docling())),
    ):
        (folder / name).write_text(text, "utf-8")
    write_pdf(folder / "i.pdf", _pages())
    return sorted(path for path in folder.iterdir() if path.is_file())
