"""Pages as images: what is drawn, what is kept, and what a hostile file can do."""

import io
from pathlib import Path

import pytest
from PIL import Image

from rag_assets.core.errors import NotFound, RagAssetsError
from rag_assets.core.incremental import file_sha256
from rag_assets.core.settings import Settings
from rag_assets.library.reading import pdfs
from rag_assets.library.reading.pages import MAX_PIXELS, PdfFile
from rag_assets.library.reading.pdfs import MAX_WIDTH, PageImages, PdfWorkers
from rag_assets.library.reading.reader import Reader
from rag_assets_testing.papers.pdf import page_of, write_pdf
from rag_assets_testing.world import World
from rag_assets_tests.kept_entries import raw
from rag_assets_tests.library.reading.conftest import DRAWN, opened


def image_of(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png))


def pdf_file(path: Path) -> PdfFile:
    return PdfFile(path, path.name, file_sha256(path), 3000)


def test_a_page_is_drawn_as_wide_as_asked_for(reader: Reader) -> None:
    """A phone and a wide screen need different images of one page."""
    small, large = (image_of(reader.page_image(DRAWN, 1, width=width)) for width in (300, 900))

    assert (small.width, small.height) == (300, 400)
    assert (large.width, large.height) == (900, 1200)
    assert large.convert("L").getextrema()[0] < 100, "a blank page would have been enough"


def test_only_the_marked_box_takes_colour(reader: Reader) -> None:
    """A mark that covers its words, or lies elsewhere, is of no use."""
    plain, marked = (
        image_of(reader.page_image(DRAWN, 1, boxes=boxes)).convert("RGB")
        for boxes in ((), [(0.1, 0.25, 0.5, 0.5)])
    )

    changed = [
        (x, y)
        for x in range(0, plain.width, 5)
        for y in range(0, plain.height, 5)
        if plain.getpixel((x, y)) != marked.getpixel((x, y))
    ]
    assert changed
    assert all(
        0.1 <= x / plain.width <= 0.5 and 0.25 <= y / plain.height <= 0.5 for x, y in changed
    )
    assert min(marked.crop((100, 333, 500, 666)).convert("L").getextrema()) < 100, (
        "the words under it are still there"
    )


def test_a_page_that_is_not_there_is_said_so(reader: Reader) -> None:
    """Whoever follows an old link must learn what is wrong with it."""
    with pytest.raises(NotFound, match="has no page 999"):
        reader.page_image(DRAWN, 999)
    with pytest.raises(NotFound, match="has no page 0"):
        reader.page_image(DRAWN, 0)
    with pytest.raises(NotFound, match="ferritin has no PDF"):
        reader.page_image("ferritin", 1)
    with pytest.raises(NotFound, match=r"No paper with the id .*secret"):
        reader.page_image("../secret", 1)


def test_a_link_out_of_the_papers_folder_is_never_opened(world: World, tmp_path: Path) -> None:
    """Whoever may put files into the folder must not read others of the machine through it."""
    secret = write_pdf(tmp_path / "secret.pdf", [page_of("Secret.")])
    pdf = world.paths.papers / f"{DRAWN}.pdf"
    pdf.unlink()
    pdf.symlink_to(secret)

    with (
        opened(world) as reader,
        pytest.raises(NotFound, match=r"is a link that leads out of the papers folder"),
    ):
        reader.page_image(DRAWN, 1)


def test_a_page_that_was_drawn_is_not_drawn_again(world: World) -> None:
    """Turning pages to and fro must not cost the processor each time; a changed file must show at
    once."""
    with opened(world) as reader:
        first = reader.page_image(DRAWN, 1)
    kept = raw(world.paths.kept, "page_images")
    (key,) = kept.keys()
    kept.put(key, b"kept")

    with opened(world) as reader:
        assert reader.page_image(DRAWN, 1) == b"kept"
        write_pdf(world.paths.papers / f"{DRAWN}.pdf", [page_of("Changed.")])
        assert reader.page_image(DRAWN, 1) not in (b"kept", first)


@pytest.mark.parametrize("size", [(72, 14_000), (14_000, 72), (14_400, 14_400), (3, 3)])
def test_no_size_of_a_page_makes_a_huge_image(tmp_path: Path, size: tuple[int, int]) -> None:
    """A page of 5 by 5 metres would take the memory of the machine."""
    from pypdfium2 import PdfDocument

    pdf = PdfDocument.new()
    pdf.new_page(*size)
    pdf.save(tmp_path / "page.pdf")
    settings = Settings(data_dir=tmp_path)
    workers = PdfWorkers(settings)

    image = image_of(
        PageImages(settings, workers).png(pdf_file(tmp_path / "page.pdf"), 1, 100_000, ())
    )
    workers.close()

    assert image.width <= MAX_WIDTH + 1
    assert image.width * image.height <= MAX_PIXELS * 1.01


def test_a_page_that_takes_too_long_is_given_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hostile page must cost one worker a few seconds, not every reader forever."""
    monkeypatch.setattr(pdfs, "PAGE_TIMEOUT_S", 0.001)
    settings = Settings(data_dir=tmp_path)
    path = write_pdf(tmp_path / "page.pdf", [page_of("Text.")])
    workers = PdfWorkers(settings)
    images = PageImages(settings, workers)

    messages = []
    for _ in range(2):
        with pytest.raises(RagAssetsError) as caught:
            images.png(pdf_file(path), 1, 1000, ())
        messages.append(str(caught.value))
    workers.close()

    assert messages[0] == messages[1]
    assert messages[0].startswith(
        "page.pdf has a page that cannot be read: it took longer than 0.001 s"
    )
