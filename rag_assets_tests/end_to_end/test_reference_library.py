"""A library of references in the place of the papers folder."""

from pathlib import Path

from rag_assets.core.settings import Settings
from rag_assets.engine import open_engine
from rag_assets.library.reading.reader import Reader
from rag_assets_testing.world import World
from rag_assets_tests.faces.server.browser.drawn_papers import HERONS, draw_paper
from rag_assets_tests.parsing.test_reference_libraries import Zotero


def test_a_zotero_library_is_read_cited_and_shown(tmp_path: Path) -> None:
    """The record is the user's own, and the page of a quote must be seen although no papers folder is there."""
    zotero = Zotero(tmp_path / "Zotero")
    zotero.item(1, "ITEM0001", {1: "Herons in winter", 2: "2019-05-00 May 2019"}, ("Ada", "Lund"))
    zotero.attach(2, 1, "FILE0001", "storage:herons.pdf")
    draw_paper(zotero.folder / "storage/FILE0001/herons.pdf", "Herons at the winter coast", HERONS)
    world = World(tmp_path / "world")
    for folder in (world.paths.papers, world.paths.questions):
        if folder.exists():
            folder.rmdir()

    outcome = world.run("papers", "blocks", "parsed_index", paper_list=str(zotero.folder))

    assert outcome.is_success, outcome.failures or outcome.broken
    [row] = world.table(world.paths.records).to_pylist()
    assert (row["paper_id"], row["title"], row["year"]) == ("herons", "Herons in winter", 2019)
    settings = Settings(data_dir=world.paths.data, paper_list=zotero.folder)
    with open_engine(settings) as engine, Reader(settings, engine) as reader:
        assert reader.page_image("herons", 1).startswith(b"\x89PNG")
