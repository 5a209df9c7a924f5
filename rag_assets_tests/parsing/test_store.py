"""Parsed documents on disk."""

from pathlib import Path

import pytest

from rag_assets.core.domain import (
    Block,
    BlockKind,
    Box,
    Cell,
    Document,
    PageSource,
    SourceFormat,
    Span,
    Zone,
)
from rag_assets.core.errors import MissingInput
from rag_assets.parsing.store import DocumentStore, packed_document
from rag_assets_tests.kept_entries import contents, damage

BOX = Box(1, 0.1, 0.2, 0.3, 0.4)
DOCUMENT = Document(
    paper_id="sheep",
    title="Größe",
    source=SourceFormat.TEI,
    file_path="a/sheep.tei.xml",
    blocks=(
        Block(
            BlockKind.PARAGRAPH,
            "Iron – 5 µg.",
            ("1 Results",),
            Zone.ANNEX,
            (Span(0, 12, 1, 2, (BOX,), None, 0.5),),
        ),
        Block(
            BlockKind.TABLE,
            "a | b",
            cells=(
                Cell(
                    0,
                    0,
                    "a",
                    1,
                    2,
                    is_header=True,
                    is_stub=True,
                    is_group=True,
                    group=("c",),
                    boxes=(BOX,),
                ),
            ),
            is_generated=True,
        ),
    ),
    n_pages=2,
    page_source=PageSource.COORDS,
    page_labels=("ii", None),
    n_source_chars=17,
    notes=("mended",),
)
FIRST, SECOND = "aa" + "0" * 30, "bb" + "0" * 30


def test_a_document_comes_back_as_it_was_and_equal_ones_are_equal_bytes(tmp_path: Path) -> None:
    """A field that is lost here is lost in every answer; changing bytes make a second run look like
    a change."""
    here, there = (
        DocumentStore(tmp_path / "here.sqlite3"),
        DocumentStore(tmp_path / "there.sqlite3"),
    )

    here.put(FIRST, packed_document(DOCUMENT))
    there.put(FIRST, packed_document(DOCUMENT))

    assert here.get(FIRST) == DOCUMENT
    one, other = (contents(store.path, "documents")[FIRST] for store in (here, there))
    assert one == other
    assert one[4:8] == bytes(4), "gzip's header must not tell when it was written"


def test_pruning_keeps_what_is_used_and_nothing_else(tmp_path: Path) -> None:
    """Without it the cache grows with every edit; with too much of it every paper is parsed
    again."""
    store = DocumentStore(tmp_path / "kept.sqlite3")
    store.put(FIRST, packed_document(DOCUMENT))
    store.put(SECOND, packed_document(DOCUMENT))

    store.prune({FIRST})

    assert store.has(FIRST)
    assert not store.has(SECOND)


def test_a_missing_or_damaged_document_names_the_remedy(tmp_path: Path) -> None:
    """A bare decompression error does not say which file it is, or what to run."""
    store = DocumentStore(tmp_path / "kept.sqlite3")
    store.put(FIRST, packed_document(DOCUMENT))
    damage(store.path, "documents")

    for fingerprint in (FIRST, SECOND):
        with pytest.raises(
            MissingInput,
            match=rf"no document {fingerprint}, or a damaged one\. Materialize `parsed",
        ):
            store.get(fingerprint)
