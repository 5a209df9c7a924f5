"""PDF files with a text layer, read with PDFium and without any model.

Pages without one are read by OCR where that is installed. A scan without is refused with advice; it
never becomes an empty document.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from rag_assets.core.domain import (
    Box,
    Document,
    PageSource,
    PrintedFront,
    SourceFormat,
    Zone,
    n_text_chars,
)
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.assembly import blocks_of, joined
from rag_assets.parsing.formats.pdf.blocks import BodyStyle, LineGroup, line_groups
from rag_assets.parsing.formats.pdf.file import Outline, opened_pdf
from rag_assets.parsing.formats.pdf.front import N_FRONT_PAGES, PrintedTitle, Stated, front_of
from rag_assets.parsing.formats.pdf.glyphs import SignsDrawn
from rag_assets.parsing.formats.pdf.headings import with_headings_joined
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.formats.pdf.ocr import INSTALL, PageReader, is_installed
from rag_assets.parsing.formats.pdf.tables import lines_with_tables
from rag_assets.parsing.formats.pdf.text import (
    MAX_CHARS_PER_PAGE,
    PageText,
    read_page,
)
from rag_assets.parsing.formats.pdf.titles import LARGER, TitleReader, is_cover, with_titles_joined
from rag_assets.parsing.shared.files import RawFile
from rag_assets.parsing.shared.hyphenation import Vocabulary
from rag_assets.parsing.shared.running_text import RUNNING_SHARE, PlacedLine, running

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

logger = logging.getLogger(__name__)

Read = TypeVar("Read")

MAX_CHARS = 30_000_000
"""Characters of one document; a book of 3,000 dense pages has half of that."""


@dataclass(frozen=True)
class PageLines:
    """The lines of a page in reading order, and those at an angle to them."""

    upright: tuple[Line, ...]
    asides: tuple[tuple[Line, ...], ...]


def parse_pdf(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a PDF into blocks with pages and boxes.

    Raises UnreadableDocument when the file cannot be opened or has no text layer (with what to do
    about it), and DocumentLimit when it has too many pages or characters. Single pages without
    text, and those that cannot be read, are named in the notes.
    """
    with opened_pdf(file.content, settings.limits.max_pages) as pdf:
        return _document(pdf, file, settings, Stated.by(pdf))


def printed_front(file: RawFile, settings: ParsingSettings) -> PrintedFront:
    """What the first pages of a PDF tell of the paper. Raises what `parse_pdf` raises."""
    from pypdfium2 import PdfiumError

    with opened_pdf(file.content, settings.limits.max_pages) as pdf:
        try:
            first = type(pdf).new()
            first.import_pages(pdf, list(range(min(N_FRONT_PAGES, len(pdf)))))
        except PdfiumError as error:
            raise UnreadableDocument("has a first page that cannot be read") from error
        with closing(first):
            printed = _document(first, file, settings, Stated.by(pdf)).printed
    if printed is None:
        raise UnreadableDocument("has a first page that cannot be read")
    return printed


def _document(
    pdf: "PdfDocument", file: RawFile, settings: ParsingSettings, stated: Stated
) -> Document:
    """Reads an open PDF into a document: lines, then groups of lines, then blocks. `stated` is not
    read here, because `pdf` may be a copy of the first pages, which has no metadata. A cover page
    is dropped, and its lines are counted with the running headers."""
    ocr = PageReader(settings.limits.timeout_s) if is_installed() else None
    pages, lines = read_pages(pdf, file.path, lines_with_tables, ocr)
    missing = _why_missing(ocr)
    _demand_text(pdf, pages, missing)
    kept, running = _without_running_text(pdf, pages, lines)
    outline = Outline.of(pdf)
    labels = tuple(
        pdf.get_page_label(index) or None for index in range(len(pdf))
    )  # "" where the file has none
    by_page: list[list[LineGroup]] = []
    for at, page in enumerate(kept):
        no_groups: list[LineGroup] = []
        failed, groups = _tried(at + 1, file.path, partial(_groups_of, page), no_groups)
        pages[at] = failed or pages[at]
        by_page.append(groups)
    body = BodyStyle.of([group for page in by_page for group in page])
    by_page = [with_headings_joined(page, body) for page in by_page]
    by_page[:2] = [with_titles_joined(page, body) for page in by_page[:2]]
    texts = [line.text for page in kept for line in page.upright]
    reader = TitleReader(body, " ".join(texts), stated.title)
    first = int(len(by_page) > 1 and is_cover(by_page[0], by_page[1], reader))
    n_dropped = len(running) + sum(len(group.lines) for page in by_page[:first] for group in page)
    everything = [group for page in by_page[first:] for group in page]
    title = reader.title_in(by_page[first])
    as_text = joined([line.text for line in title.lines], Vocabulary.of(texts)) if title else ""
    title_text = reader.text_of(title, as_text, by_page[first])
    blocks = blocks_of(everything, title, outline)
    n_back = sum(block.n_chars for block in blocks if block.zone is Zone.BACK)
    n_lines = sum(n_text_chars(line.text) for group in everything for line in group.lines)
    return Document(
        paper_id=file.paper_id,
        title=title_text,
        source=SourceFormat.PDF,
        file_path=file.path,
        blocks=blocks,
        n_pages=len(pages),
        page_source=PageSource.PARSER,
        page_labels=labels if any(labels) else (),
        n_source_chars=max(0, n_lines - n_back),
        n_dropped_running=n_dropped,
        n_pages_unread=len(_unread(pages)) + sum(map(bool, (page.problem for page in pages))),
        n_pages_cut=sum(page.is_cut for page in pages),
        notes=_notes(pages, missing),
        printed=front_of(
            pdf,
            pages,
            stated,
            PrintedTitle(title_text, *reader.band_below(title, by_page[first])),
            "" if title_text else reader.company_on(by_page[first]),
            blocks,
        ),
    )


def _without_running_text(
    pdf: "PdfDocument",
    pages: Sequence[PageText],
    lines: Sequence[PageLines],
) -> tuple[Sequence[PageLines], list[str]]:
    """What `without_running_text` gives; everything where nothing else would be left. Raises
    UnreadableDocument for scans whose only text is a stamp on every page."""
    kept, running = without_running_text(lines)
    if any(page.upright or page.asides for page in kept):
        return kept, running
    if n_images := _n_image_pages(pdf, pages):
        raise UnreadableDocument(
            f"has no text but running headers or page numbers ({_counted(n_images, 'page')} of images): run "
            "OCR first (e.g. with the docling extra) and put the result in its place."
        )
    return lines, []  # for example a short form that is filled in twice


def _tried(
    number: int, path: str, work: Callable[[], Read], nothing: Read
) -> tuple[PageText | None, Read]:
    """None and what `work` makes of a page of the file `path`. Where it fails in any way, the page
    with its problem and `nothing`, because one page must not cost the others."""
    try:
        return None, work()
    except MemoryError:
        raise
    except Exception as error:
        logger.exception("Page %d of %s is left out", number, path)
        return PageText(number, problem=f"{type(error).__name__}: {error}".rstrip(".")), nothing


def read_pages(
    pdf: "PdfDocument",
    path: str,
    lines_of: Callable[[PageText], Sequence[Sequence[Line]]],
    ocr: PageReader | None = None,
) -> tuple[list[PageText], list[PageLines]]:
    """Each page of the file `path`, after the first two without its segments, and its lines as
    `lines_of` finds them in each layer. A page that cannot be read is empty and has its problem.

    Raises DocumentLimit over MAX_CHARS.
    """
    signs = SignsDrawn()

    def read(index: int) -> tuple[PageText, PageLines]:
        page = read_page(pdf, index, ocr, signs)
        upright, *asides = [*map(tuple, lines_of(page))] or [()]
        return page, PageLines(upright, tuple(asides))

    pages: list[PageText] = []
    lines: list[PageLines] = []
    n_chars = 0
    for index in range(len(pdf)):
        nothing = PageText(index + 1), PageLines((), ())
        failed, (page, found) = _tried(index + 1, path, partial(read, index), nothing)
        page = failed or page
        n_chars += page.n_chars
        if n_chars > MAX_CHARS:
            raise DocumentLimit(
                f"has more than {MAX_CHARS:,} characters on its first {index + 1} pages. Split the file."
            )
        lines.append(found)
        pages.append(page if index < N_FRONT_PAGES else page.without_text())
    return pages, lines


def without_running_text(
    pages: Sequence[PageLines],
) -> tuple[list[PageLines], list[str]]:
    """The pages without running headers, footers, page numbers and stamps, and those lines."""
    in_order = [sorted(page.upright, key=lambda line: line.top) for page in pages]

    def placed(line: Line) -> PlacedLine:
        return PlacedLine(line.text, (line.top + line.bottom) / 2 / line.frame.height)

    titles = _printed_twice(pages)
    dropped = {id(line) for line in running(in_order, placed) if line.text not in titles}
    dropped |= {id(line) for page in pages for line in _stamps(page)}
    n_pages_with = Counter(
        text for page in pages for text in {line.text for line in _at_an_angle(page)}
    )
    stamped = {text for text, n in n_pages_with.items() if n > max(1, RUNNING_SHARE * len(pages))}
    dropped |= {id(line) for page in pages for line in _at_an_angle(page) if line.text in stamped}
    kept = [
        PageLines(
            _without(page.upright, dropped),
            tuple(filter(None, (_without(one, dropped) for one in page.asides))),
        )
        for page in pages
    ]
    every = (line for page in pages for line in chain(page.upright, *page.asides))
    return kept, [line.text for line in every if id(line) in dropped]


def _printed_twice(pages: Sequence[PageLines]) -> set[str]:
    """The large lines that the first two pages have and no other: a cover repeats the title."""
    cover, first, *others = (*(page.upright for page in pages), (), ())
    if not first:
        return set()
    large = LARGER * median(line.height for line in first)
    titles = {line.text for line in first if line.height >= large}
    elsewhere = {line.text for page in others for line in page}
    return (titles & {line.text for line in cover}) - elsewhere


def _without(lines: Sequence[Line], dropped: Set[int]) -> tuple[Line, ...]:
    return tuple(line for line in lines if id(line) not in dropped)


def _stamps(page: PageLines) -> Iterator[Line]:
    """The lines at an angle that stand beside all upright text: a label of an axis stands among
    it."""
    upright = [_box(line) for line in page.upright]
    left, right = (
        min((box.left for box in upright), default=0.0),
        max((box.right for box in upright), default=1.0),
    )
    for line in _at_an_angle(page):
        if _box(line).right <= left or _box(line).left >= right:
            yield line


def _at_an_angle(page: PageLines) -> Iterator[Line]:
    return chain.from_iterable(page.asides)


def _box(line: Line) -> Box:
    return line.frame.box(line.left, line.top, line.right, line.bottom)


def _why_missing(ocr: PageReader | None) -> str:
    if ocr is None:
        return f"To have such pages read by OCR: {INSTALL}"
    if ocr.is_late:
        return "OCR had no time left: raise parsing.limits.timeout_s."
    return "OCR found no words there."


def _demand_text(pdf: "PdfDocument", pages: Sequence[PageText], missing: str) -> None:
    """Raises UnreadableDocument if no page has text. The message says whether the pages are images
    or blank; `missing` is its last sentence, on what can be done."""
    if any(page.n_chars for page in pages):
        return
    if problems := _problems(pages):
        raise UnreadableDocument(f"has no page that can be read. {problems}")
    n_images = _n_image_pages(pdf, pages)
    if n_images:
        raise UnreadableDocument(
            f"has no text layer ({_counted(n_images, 'page')} of images). {missing}"
        )
    raise UnreadableDocument(
        f"has no text layer: {_counted(len(pages), 'page')}, blank or drawn, without text and without images. {missing}"
    )


def _n_image_pages(pdf: "PdfDocument", pages: Sequence[PageText]) -> int:
    from pypdfium2 import raw

    n = 0
    for number in [page.number for page in pages if not page.problem]:
        with closing(pdf[number - 1]) as page:
            n += any(True for _ in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=5))
    return n


def _groups_of(page: PageLines) -> list[LineGroup]:
    asides = [
        replace(group, is_aside=True) for lines in page.asides for group in line_groups(lines)
    ]
    return [*line_groups(page.upright), *asides]


def _unread(pages: Sequence[PageText]) -> list[int]:
    return [page.number for page in pages if not page.n_chars and page.has_content]


def _problems(pages: Sequence[PageText]) -> str:
    """A sentence for the user on the pages that could not be read, and what to do; empty if there
    are none."""
    reasons = "; ".join(f"page {one.number} ({one.problem})" for one in pages if one.problem)
    return reasons and (
        f"Could not be read: {reasons}. What stands there is missing: print the file to a new PDF "
        "with another program and put that in its place."
    )


def _notes(pages: Sequence[PageText], missing: str) -> tuple[str, ...]:
    """Sentences for the user on pages that were read by OCR, in part or not at all. missing: the
    sentence on why OCR did not read pages without text, and what to do."""
    notes = []
    if by_ocr := [page.number for page in pages if page.is_by_ocr]:
        notes.append(
            f"Read by OCR: {_page_list(by_ocr)}. Letters and digits may be wrong: compare with the page."
        )
    if without_text := _unread(pages):
        notes.append(
            f"No text layer on {_page_list(without_text)}: what stands there is missing. {missing}"
        )
    if cut_words := [page.number for page in pages if page.is_cut]:
        notes.append(
            f"The text layer of {_page_list(cut_words)} cuts words in two, so they are not found. {missing}"
        )
    if problems := _problems(pages):
        notes.append(problems)
    if cut := [page.number for page in pages if page.n_chars_left_out]:
        notes.append(
            f"Only the first {MAX_CHARS_PER_PAGE:,} characters were read of {_page_list(cut)}."
        )
    if unread := [page.number for page in pages if page.n_unread]:
        n_unread = sum(page.n_unread for page in pages)
        notes.append(
            f"{_counted(n_unread, 'character')} on {_page_list(unread)} cannot be read, because the fonts do not say "
            "what they are: each is \ufffd in the text. Compare numbers beside it with the page."
        )
    return tuple(notes)


def _page_list(numbers: Sequence[int]) -> str:
    """ "page 3" or "pages 1-4, 7": runs drawn together."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    listed = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"page{'s' if len(numbers) > 1 else ''} {listed}"


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
