"""A library of references in the place of the papers folder."""

from pathlib import Path

from rag_assets.core.settings import Settings
from rag_assets.engine import open_engine
from rag_assets.library.reading.reader import Reader
from rag_assets_testing.world import World
from rag_assets_tests.faces.server.browser.drawn_papers import HERONS, draw_paper


def test_a_library_is_read_cited_and_shown(tmp_path: Path) -> None:
    """The record is the user's own, and the page of a quote must be seen although no papers folder
    is there."""
    library = tmp_path / "library/library.bib"
    library.parent.mkdir()
    library.write_text(
        "@article{lund, title={Herons in winter}, author={Lund, Ada}, year=2019, file={herons.pdf}}"
    )
    draw_paper(library.parent / "herons.pdf", "Herons at the winter coast", HERONS)
    world = World(tmp_path / "world")
    for folder in (world.paths.papers, world.paths.questions):
        if folder.exists():
            folder.rmdir()

    outcome = world.run("papers", "blocks", "parsed_index", paper_list=str(library))

    assert outcome.is_success, outcome.failures or outcome.broken
    [row] = world.table(world.paths.records).to_pylist()
    assert (row["paper_id"], row["title"], row["year"]) == ("herons", "Herons in winter", 2019)
    settings = Settings(data_dir=world.paths.data, paper_list=library)
    with open_engine(settings) as engine, Reader(settings, engine) as reader:
        assert reader.page_image("herons", 1).startswith(b"\x89PNG")
