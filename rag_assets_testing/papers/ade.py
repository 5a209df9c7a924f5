"""Small ADE exports of each family, written for the tests."""

import json
from typing import Any

from rag_assets.core.domain import Document
from rag_assets.parsing.formats.ade.document import parse_ade
from rag_assets_testing.papers.contents import read_content

Json = dict[str, Any]


def v1_chunk(kind: str, text: str, page: int = 0, top: float = 0.3, height: float = 0.03) -> Json:
    """A chunk as version 1 writes it; `page` counts from 0."""
    chunk_id = f"{kind}-{page}-{top}"
    box = {"left": 0.1, "top": top, "right": 0.9, "bottom": top + height}
    return {
        "id": chunk_id,
        "type": kind,
        "markdown": f"<a id='{chunk_id}'></a>\n\n{text}",
        "grounding": {"page": page, "box": box},
    }


def v1_file(chunks: list[Json], cells: Json | None = None, page_count: int = 2) -> Json:
    return {
        "markdown": "",
        "chunks": chunks,
        "splits": [],
        "grounding": cells or {},
        "metadata": {"page_count": page_count},
    }


def v1_cell(page: int, left: float, top: float) -> Json:
    """The grounding of a table cell, 0.1 wide and 0.02 high."""
    return {
        "type": "tableCell",
        "page": page,
        "box": {"left": left, "top": top, "right": left + 0.1, "bottom": top + 0.02},
    }


def legacy_file() -> Json:
    return {
        "markdown": "",
        "doc_type": "pdf",
        "start_page_idx": 0,
        "end_page_idx": 1,
        "errors": [],
        "chunks": [
            {
                "text": "Ferritin fell in both arms.",
                "chunk_type": "text",
                "chunk_id": "a",
                "grounding": [
                    {"page": 0, "box": {"l": 0.1, "t": 0.8, "r": 0.4, "b": 0.9}},
                    {"page": 1, "box": {"l": 0.1, "t": 0.1, "r": 0.4, "b": 0.2}},
                ],
            },
            {
                "text": "A bar chart of ferritin.",
                "chunk_type": "figure",
                "chunk_id": "b",
                "grounding": [{"page": 1, "box": {"l": 0.1, "t": 0.3, "r": 0.4, "b": 0.5}}],
            },
        ],
    }


class V2Writer:
    """Builds a version 2 file piece by piece, so that every range is exact."""

    def __init__(self) -> None:
        self.markdown = ""
        self.pages: list[Json] = []

    def page(self) -> None:
        number = len(self.pages) + 1
        self.pages.append(
            {"type": "page", "status": "ok", "grounding": {"page": number}, "children": []}
        )

    def element(self, kind: str, text: str) -> None:
        self.pages[-1]["children"].append(self._node(kind, text, 0.1))
        self.markdown += "\n\n"

    def table(self, rows: list[list[str]]) -> None:
        start = len(self.markdown)
        cells = []
        for row, texts in enumerate(rows):
            self.markdown += "<tr>"
            for col, text in enumerate(texts):
                self.markdown += "<td>"
                node = self._node("table_cell", text, 0.1 + 0.2 * col)
                cells.append(node | {"row": row, "col": col, "rowspan": 1, "colspan": 1})
                self.markdown += "</td>"
            self.markdown += "</tr>"
        table = self._node("table", "", 0.1) | {"children": cells}
        table["grounding"]["range"] = {"start": start, "end": len(self.markdown)}
        self.pages[-1]["children"].append(table)
        self.markdown += "\n\n"

    def file(self) -> Json:
        structure = {"type": "document", "children": self.pages}
        return {
            "markdown": self.markdown,
            "structure": structure,
            "metadata": {"page_count": len(self.pages)},
        }

    def _node(self, kind: str, text: str, left: float) -> Json:
        start = len(self.markdown)
        self.markdown += text
        box = {"xmin": left, "ymin": 0.2, "xmax": left + 0.1, "ymax": 0.3}
        grounding = {
            "page": len(self.pages),
            "box": box,
            "range": {"start": start, "end": len(self.markdown)},
        }
        return {"type": kind, "id": f"{kind}-{start}", "grounding": grounding}


def parsed(content: Json) -> Document:
    return read_content(parse_ade, "paper.json", json.dumps(content))
