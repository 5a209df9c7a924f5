"""The list of papers, their sections, and what stands around a chunk."""

from dataclasses import replace
from itertools import pairwise

import pytest

from rag_assets.core.errors import NotFound
from rag_assets.corpus.records.published import titles_of
from rag_assets.library.reading.papers import PaperState
from rag_assets.library.reading.reader import Reader
from rag_assets_testing.world import TOPICS, World
from rag_assets_tests.library.reading.conftest import BROKEN, DRAWN, opened


def test_papers_are_ready_kept_out_with_their_reason_or_waiting(world: World) -> None:
    """Whoever put a paper in must see whether it can be asked, or what to do about it."""
    world.write_paper("basalt", *TOPICS["basalt"])

    with opened(world) as reader:
        papers = {paper.paper_id: paper for paper in reader.papers()}

    assert {name: paper.state for name, paper in papers.items()} == {
        "basalt": PaperState.WAITING,
        BROKEN: PaperState.QUARANTINED,
        DRAWN: PaperState.READY,
        "ferritin": PaperState.READY,
    }
    assert "PDFium finds no readable structure" in (papers[BROKEN].reason or "")
    assert (papers["ferritin"].title, papers["ferritin"].has_pages) == (
        "Ferritin in athletes",
        False,
    )
    assert papers[DRAWN].has_pages
    assert papers[DRAWN].n_chunks > 0


def test_a_paper_is_listed_by_the_title_of_its_record(world: World) -> None:
    """Its file may have a wrong one: who looks for the right title would not find the paper."""
    (world.paths.papers / "library.bib").write_text("@article{ferritin, title = {Iron in runners}}")
    assert world.run().is_success

    with opened(world) as reader:
        listed = {paper.paper_id: paper.title for paper in reader.papers("iron in runners")}

        assert (
            listed == {"ferritin": "Iron in runners"} == {"ferritin": reader.titles()["ferritin"]}
        )
        assert reader.titles() == titles_of(world.paths)
        assert reader.titles()[BROKEN] == ""


def test_a_run_shows_in_an_open_reader(world: World) -> None:
    """A server stays open for weeks; an upload must turn from waiting to ready without a
    restart."""
    with opened(world) as reader:
        world.write_paper("basalt", *TOPICS["basalt"])
        before = {paper.paper_id: paper.state for paper in reader.papers()}

        assert world.run().is_success

        after = {paper.paper_id: paper.state for paper in reader.papers()}
    assert (before["basalt"], after["basalt"]) == (PaperState.WAITING, PaperState.READY)


def test_a_folder_without_any_run_lists_what_waits(world: World) -> None:
    """The first thing a new user does is to put papers in and look."""
    for table in world.paths.cache.glob("*.parquet"):
        table.unlink()

    with opened(world) as reader:
        papers = reader.papers()
        details = reader.paper(DRAWN)

    assert {paper.state for paper in papers} == {PaperState.WAITING}
    assert details.sections == ()


def test_the_text_of_a_section_repeats_nothing_and_leaves_nothing_out(reader: Reader) -> None:
    """Chunks overlap so that each can be read alone; a section is read once."""
    for paper in (DRAWN, "ferritin"):
        for section in reader.paper(paper).sections:
            text = reader.section(paper, section.section_id)

            assert [part.chunk_id for part in text.parts] == list(section.chunk_ids)
            for part in text.parts:
                chunk = reader.chunk(part.chunk_id)
                assert text.text[part.start : part.end] == chunk.text[part.chunk_start :]


def test_a_section_is_found_by_its_title_without_its_number(reader: Reader) -> None:
    """Nobody remembers that the results are number 3.2; a whole title still comes before a bare
    one."""
    paper = reader.paper(DRAWN)
    titles = ("1 Results", "Methods", "3.2 Methods", "B. Limits")
    sections = tuple(
        replace(paper.sections[0], section_id=title, title=title, path=title) for title in titles
    )
    numbered = replace(paper, sections=sections)

    assert [numbered.section(name).title for name in ("results", "METHODS", "Limits", "3.2 methods")] == [
        "1 Results", "Methods", "B. Limits", "3.2 Methods",
    ]  # fmt: skip
    with pytest.raises(NotFound, match="has no section '1'"):
        numbered.section("1")


def test_a_chunk_has_the_end_of_what_is_before_it_and_the_beginning_of_what_follows(
    reader: Reader,
) -> None:
    """A sentence alone is easily misread; its neighbours in the section are one look away."""
    (section, *_) = [one for one in reader.paper(DRAWN).sections if len(one.chunk_ids) > 1]

    chunks = [reader.chunk(chunk_id) for chunk_id in section.chunk_ids]

    assert chunks[0].context_before == ""
    assert chunks[-1].context_after == ""
    for earlier, later in pairwise(chunks):
        assert later.text[later.own_start :].startswith(earlier.context_after)
        assert earlier.context_after
        assert later.context_before in earlier.text
        assert later.context_before
