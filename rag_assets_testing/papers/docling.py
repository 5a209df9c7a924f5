"""Builds a DoclingDocument as docling writes it."""

import json
from typing import Any

from rag_assets.core.domain import Document
from rag_assets.parsing.formats.docling.document import parse_docling
from rag_assets_testing.papers.contents import read_content

Json = dict[str, Any]


class DoclingWriter:
    """Builds the JSON of a DoclingDocument with one page of 200 x 400 units."""

    def __init__(self, mimetype: str = "application/pdf", n_pages: int = 2) -> None:
        self.json: Json = {
            "schema_name": "DoclingDocument",
            "version": "1.10.0",
            "name": "paper",
            "origin": {"mimetype": mimetype, "filename": "paper"},
            "body": {
                "self_ref": "#/body",
                "children": [],
                "content_layer": "body",
                "label": "unspecified",
            },
            "groups": [],
            "texts": [],
            "tables": [],
            "pictures": [],
            "pages": {
                str(number): {"page_no": number, "size": {"width": 200.0, "height": 400.0}}
                for number in range(1, n_pages + 1)
            },
        }

    def add(self, collection: str, parent: Json | None = None, **fields: Any) -> Json:
        items = self.json[collection]
        ref = f"#/{collection}/{len(items)}"
        item = {"self_ref": ref, "children": [], "content_layer": "body", "prov": [], **fields}
        items.append(item)
        (self.json["body"] if parent is None else parent)["children"].append({"$ref": ref})
        return item

    def text(self, label: str, text: str, parent: Json | None = None, **fields: Any) -> Json:
        return self.add("texts", parent, **({"label": label, "text": text, "orig": text} | fields))

    def parsed(self) -> Document:
        return read_content(parse_docling, "paper.json", json.dumps(self.json))


def prov(
    page: int, left: float, top: float, right: float, bottom: float, chars: tuple[int, int] = (0, 0)
) -> Json:
    """A place with its origin at the bottom left, as docling writes PDFs."""
    box = {"l": left, "t": top, "r": right, "b": bottom, "coord_origin": "BOTTOMLEFT"}
    return {"page_no": page, "bbox": box, "charspan": list(chars)}


def cell(row: int, col: int, text: str, **fields: Any) -> Json:
    place = {"start_row_offset_idx": row, "start_col_offset_idx": col, "row_span": 1, "col_span": 1}
    return place | {"text": text, "column_header": False} | fields
