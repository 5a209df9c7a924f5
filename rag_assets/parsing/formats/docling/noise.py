"""Running headers and footers of a DoclingDocument that docling labelled as text.

Docling misses some of them on some pages. Two signs tell them: the same words are furniture on another page, or they
recur at the edge of most pages.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rag_assets.parsing.formats.docling.pages import Pages
from rag_assets.parsing.shared.files.json_objects import mapping, sequence, text_field
from rag_assets.parsing.shared.running_text import PlacedLine, folded_line, running

Item = Mapping[str, Any]
FURNITURE = frozenset({"page_header", "page_footer"})
_HEADINGS = frozenset({"title", "section_header"})
_TEXTS = frozenset({"text", "paragraph", "list_item", "footnote"})
"""Labels of what may be a running line by frequency alone; headings recur too, on slides for one."""
_MIN_LETTERS = 3
"""Fewer make no header: "5" alone may be a page number here and a value there."""
_SAME_PLACE = 0.03


def running_items(parsed: Item, pages: Pages, share: float) -> frozenset[str]:
    """References ("#/texts/7") of the texts that are running headers or footers whatever their label.

    share: as in `running_text.running_lines`.
    """
    texts = {f"#/texts/{index}": mapping(text) for index, text in enumerate(sequence(parsed.get("texts")))}
    body = {name: text for name, text in texts.items() if _is_body(text)}
    known = _places_of_furniture(texts.values(), pages)
    repeated = {name for name, text in body.items() if _repeats_furniture(text, known, pages)}
    rest = {name: text for name, text in body.items() if name not in repeated}
    return frozenset(repeated.union(_recurring(rest, pages, share)))


def _is_body(text: Item) -> bool:
    parent = text_field(mapping(text.get("parent")).get("$ref"))
    is_inside_float = parent.startswith(("#/pictures/", "#/tables/"))
    is_furniture = text.get("content_layer", "body") != "body" or _label(text) in FURNITURE
    return not is_inside_float and not is_furniture


def _places_of_furniture(texts: Iterable[Item], pages: Pages) -> dict[str, list[float]]:
    known: dict[str, list[float]] = {}
    for text in texts:
        folded = folded_line(text_field(text.get("text")))
        if folded and _label(text) in FURNITURE:
            known.setdefault(folded, []).extend(_places(text, pages))
    return known


def _repeats_furniture(text: Item, known: Mapping[str, Sequence[float]], pages: Pages) -> bool:
    """Whether a text is furniture elsewhere; a heading, or a bare number, only at the place of that furniture."""
    folded = folded_line(text_field(text.get("text")))
    if folded not in known:
        return False
    is_clear = _label(text) not in _HEADINGS and sum(map(str.isalpha, folded)) >= _MIN_LETTERS
    own = _places(text, pages)
    return is_clear or any(abs(place - other) <= _SAME_PLACE for place in own for other in known[folded])


def _recurring(texts: Mapping[str, Item], pages: Pages, share: float) -> set[str]:
    by_page: dict[int, list[tuple[float, str]]] = {}
    for name, text in texts.items():
        boxes = pages.boxes(text)
        if len(boxes) == 1:
            by_page.setdefault(boxes[0].page, []).append(((boxes[0].top + boxes[0].bottom) / 2, name))
    in_order = [sorted(by_page.get(page, [])) for page in range(1, max(by_page, default=0) + 1)]
    return {name for _, name in running(in_order, lambda item: PlacedLine(_line(texts[item[1]]), item[0]), share)}


def _label(text: Item) -> str:
    return text_field(text.get("label"))


def _line(text: Item) -> str:
    return text_field(text.get("text")) if _label(text) in _TEXTS else ""


def _places(text: Item, pages: Pages) -> list[float]:
    """Vertical centres of a text as fractions of its pages."""
    return [(box.top + box.bottom) / 2 for box in pages.boxes(text)]
