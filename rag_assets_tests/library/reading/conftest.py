"""A built data folder with a paper that has a PDF, one that has none, and one that cannot be
read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.core.settings import Settings
from rag_assets.engine import open_engine
from rag_assets.library.reading.reader import Reader
from rag_assets_testing.world import QUESTIONS, TOPICS, World, made_once
from rag_assets_tests import demo_papers
from rag_assets_tests.end_to_end.conftest import world
from rag_assets_tests.parsing.drawn_paper import draw_paper

__all__ = ["world"]
DRAWN = "drawn"
"""TEI with coordinates and the PDF of two columns that it was made with, on several pages."""
BROKEN = "broken"


@pytest.fixture(scope="session")
def built(for_all_processes: Path, built_model: Path) -> World:
    """Not to be changed."""

    def make(world: World) -> None:
        world.use_models(built_model)
        world.write_paper("ferritin", *TOPICS["ferritin"])
        (world.paths.papers / f"{BROKEN}.pdf").write_bytes(b"%PDF-1.7\nand nothing behind it")
        tei, pdf = draw_paper(world.paths.data.parent, demo_paragraphs(), "paragraphs")
        tei.replace(world.paths.papers / f"{DRAWN}.tei.xml")
        pdf.replace(world.paths.papers / f"{DRAWN}.pdf")
        world.write_questions(QUESTIONS)
        assert world.run().is_success

    return made_once(for_all_processes / "reading world", make)


@pytest.fixture(scope="session")
def reader(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader of a copy of the built world."""
    with opened(built.copy_to(tmp_path_factory.mktemp("reading"))) as reader:
        yield reader


def opened(world: World) -> "ReaderOfWorld":
    return ReaderOfWorld(world)


class ReaderOfWorld(Reader):
    """A reader with an engine of its own."""

    def __init__(self, world: World) -> None:
        settings = Settings(data_dir=world.paths.data)
        self._own_engine = open_engine(settings)
        super().__init__(settings, self._own_engine)

    def close(self) -> None:
        super().close()
        self._own_engine.close()


def demo_paragraphs() -> list[str]:
    """Prose of the demo's own papers, as it can be drawn: some pages of it."""
    texts = [text for path in demo_papers.tei_files()[:2] for text in demo_papers.paragraphs(path)]
    return [
        text.encode("latin-1", "ignore").decode("latin-1") for text in texts if len(text) > 200
    ][:24]
