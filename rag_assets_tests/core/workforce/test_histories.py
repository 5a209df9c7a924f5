"""Tables end in the same bytes, whatever happened before, however many files they have, and
wherever work is done."""

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rag_assets.core import paper_drafts
from rag_assets.core.incremental import staging
from rag_assets.core.paper_drafts import drafted
from rag_assets.core.paper_tables import PapersUpdate, PaperTable
from rag_assets.core.settings import ChunkingSettings, ParseLimits, ParsingSettings
from rag_assets.core.tables import (
    BLOCKS,
    CHUNKS,
    PARSED_INDEX,
    PROFILES,
    REFERENCES,
    fingerprints_by,
)
from rag_assets.core.text.tokens import token_counter
from rag_assets.core.workforce.seam import Spread, Workforce, within
from rag_assets.corpus.chunking.updates import update_chunks
from rag_assets.corpus.profiles import update_profiles
from rag_assets.corpus.references.update import update_references
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.corpus import update_blocks, update_parsed_index
from rag_assets.parsing.discovery import discover
from rag_assets.parsing.store import DocumentStore
from rag_assets_testing.in_place import in_place

PAPER = """# Ferritin in {number} runners

## 1 Methods

{sentences}

## References

[1] A. Moe. Iron in sheep. Journal of Iron 4, 1-9, {number}.
"""
UNREADABLE = "\0" * 40


class Tables:
    """The tables of a papers folder, made by one workforce."""

    def __init__(self, papers: Path, folder: Path, spread: Spread) -> None:
        self.papers, self.folder, self.spread = papers, folder, spread
        self.index = PARSED_INDEX.empty_table()

    def update(self) -> None:
        store = DocumentStore(self.folder / "kept.sqlite3")
        job = ParseJob(ParsingSettings(), store, self.spread)
        self.index, _ = update_parsed_index(
            discover(self.papers, ParseLimits()), self.index, job, lambda *_: None
        )
        kept_as = fingerprints_by(
            self.index.filter(pc.equal(self.index["status"], "parsed")), "paper_id"
        )
        counter = token_counter("wordpiece")
        blocks = self._publish(
            "blocks", BLOCKS, lambda old: update_blocks(old, kept_as, store, self.spread, {})
        )
        self._publish(
            "chunks",
            CHUNKS,
            lambda old: update_chunks(old, blocks, ChunkingSettings(), counter, self.spread),
        )
        self._publish(
            "profiles", PROFILES, lambda old: update_profiles(old, blocks, {}, self.spread)
        )
        self._publish(
            "references", REFERENCES, lambda old: update_references(old, blocks, self.spread)
        )

    def contents(self) -> dict[str, bytes]:
        files = sorted(self.folder.rglob("*.parquet"))
        return {
            str(file.relative_to(self.folder)): file.read_bytes()
            for file in files
            if file.is_file()
        }

    def _publish(
        self, name: str, schema: pa.Schema, update: Callable[[PaperTable], PapersUpdate]
    ) -> PaperTable:
        published = PaperTable.published(self.folder / f"{name}.parquet", schema)
        with staging() as staged:
            drafted(published, update(published), {}, staged)
            staged.publish()
        return PaperTable.published(published.path, schema)


def write(papers: Path, number: int, content: str) -> None:
    (papers / f"p{number}.md").write_text(content, "utf-8")


def paper(number: int, draw: random.Random) -> str:
    sentences = " ".join(f"Iron rose by {draw.random():.3f} in group {nth}." for nth in range(30))
    return PAPER.format(number=number, sentences=sentences)


@pytest.mark.parametrize(("split_at", "n_files"), [(2_000, 1), (10, 16), (1, 256)])
def test_any_history_in_any_workforce_ends_in_the_bytes_of_a_fresh_build(
    tmp_path: Path,
    workforce: Workforce,
    split_at: int,
    n_files: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What an answer cites would depend on the order in which papers came, or on the machine that
    read them."""
    monkeypatch.setattr(paper_drafts, "SPLIT_AT", split_at)
    draw, papers = random.Random(split_at), tmp_path / "papers"
    papers.mkdir()
    tables = Tables(papers, tmp_path / "grown", within(ParseLimits(), workforce))
    for number in range(24):
        write(papers, number, paper(number, draw))
    for _ in range(3):
        tables.update()
        for number in draw.sample(range(30), 8):
            what = draw.choice(["delete", "edit", "edit", "break"])
            if what == "delete":
                (papers / f"p{number}.md").unlink(missing_ok=True)
            else:
                write(papers, number, paper(number, draw) if what == "edit" else UNREADABLE)
    tables.update()
    fresh = Tables(papers, tmp_path / "fresh", in_place)
    fresh.update()

    assert len(tables.contents()) == 4 * n_files
    assert tables.contents() == fresh.contents()
