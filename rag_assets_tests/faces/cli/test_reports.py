"""What `status` and `index stats` say, read from files that are written here."""

from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.incremental import sealed_json
from rag_assets.core.settings import Settings, load_settings
from rag_assets.core.table_files import write_table
from rag_assets.core.tables import PARSED_INDEX, PASSAGES, to_table
from rag_assets.faces.cli.folder_facts import (
    reading_in_words,
    readings,
    status_facts,
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    loaded = load_settings({"data_dir": str(tmp_path)})
    loaded.paths.cache.mkdir()
    return loaded


def test_nothing_made_is_told_from_nothing_found(settings: Settings) -> None:
    """None says "never made", zero says "looked and found none"."""
    before = status_facts(settings)
    write_table(to_table([], PARSED_INDEX), settings.paths.parsed_index, {})
    write_table(to_table([], PASSAGES), settings.paths.passages, {})
    settings.paths.chunk_stats.write_bytes(
        sealed_json({"n_chunks": 0, "share_missing_pages": None, "tokenizer": "wordpiece"})
    )

    after = status_facts(settings)

    assert (before["chunks"], before["passages"], before["tokenizer"]) == (None, None, None)
    assert (after["chunks"], after["passages"], after["tokenizer"]) == (0, 0, "wordpiece")
    assert before["last_evaluation"] is None


def test_what_readings_are_worth_is_told_the_worst_first(settings: Settings) -> None:
    """A paper that lost its half is searched as if it were whole, and nobody would look."""
    common = {
        "status": "parsed",
        "source": "pdf",
        "used_fallback": False,
        "n_headings": 9,
        "n_tables": 1,
        "notes": [],
    }
    of_pdf = {"n_pages": 4, "n_pages_unread": 0, "n_pages_cut": 0}
    rows: list[dict[str, Any]] = [
        common | {"paper_id": "a", "used_fallback": True, "n_headings": 0},
        common | {"paper_id": "b", "source": "tei", "n_pages": 1, "n_headings": 1, "n_tables": 0},
        common | {"paper_id": "c", "used_fallback": True, "notes": ["It is full.", "So."]},
        common | {"paper_id": "d", "n_headings": 0},
        common | of_pdf | {"paper_id": "e", "n_pages_unread": 1},
        common | of_pdf | {"paper_id": "f", "n_pages_unread": 1, "n_pages_cut": 2},
        common | {"paper_id": "g", "status": "quarantined"},
    ]
    write_table(to_table(rows, PARSED_INDEX), settings.paths.parsed_index, {})

    told = readings(settings)

    assert [(one["paper_id"], one["is_doubtful"]) for one in told] == [
        ("f", True), ("e", True), ("a", True), ("c", True), ("d", False), ("b", False),
    ]  # fmt: skip
    assert [reading_in_words(one) for one in told] == [
        "pdf, 4 pages, 9 headings, 1 table, 1 page without text, 2 pages with words cut in two",
        "pdf, 4 pages, 9 headings, 1 table, 1 page without text",
        "pdf, 0 headings, 1 table",
        "pdf, 9 headings, 1 table",
        "pdf, 0 headings, 1 table",
        "tei, 1 page, 1 heading, 0 tables",
    ]
    assert told[3]["notes"] == "It is full. So."
