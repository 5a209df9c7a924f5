"""Labels printed on the pages ("xii", "118"), put beside the physical pages of a document's blocks.

Labels are shown, never counted with: they may be roman, jump or repeat.
"""

from collections.abc import Sequence
from dataclasses import replace

from rag_assets.domain import Block, Document, Span

_MAX_LABEL_CHARS = 20


def labelled_blocks(document: Document) -> tuple[Block, ...]:
    """The document's blocks, their spans with the labels of their pages."""
    labels = [_clean(label) for label in document.page_labels]
    if not any(labels):
        return document.blocks
    return tuple(
        replace(
            block, spans=_labelled_spans(block.spans, labels), title_spans=_labelled_spans(block.title_spans, labels)
        )
        for block in document.blocks
    )


def _labelled_spans(spans: Sequence[Span], labels: Sequence[str | None]) -> tuple[Span, ...]:
    return tuple(
        replace(span, label_start=_label(span.page_start, labels), label_end=_label(span.page_end, labels))
        for span in spans
    )


def _label(page: int | None, labels: Sequence[str | None]) -> str | None:
    return labels[page - 1] if page is not None and 1 <= page <= len(labels) else None


def _clean(label: str | None) -> str | None:
    """A label on one line; None when it is empty, holds other than printable characters, or is no label but a text."""
    text = " ".join((label or "").split())
    return text if text and text.isprintable() and len(text) <= _MAX_LABEL_CHARS else None
