"""What the files of a paper are before they are parsed: formats, hashes and order, and the
fingerprint of the paper."""

from dataclasses import replace

from rag_assets.core.domain import Source
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing import registry
from rag_assets.parsing.discovery import CANNOT_BE_OPENED, Paper, PaperFile, safe_id
from rag_assets.parsing.known_files import KnownFiles
from rag_assets.parsing.places import ALIGNMENT_VERSION
from rag_assets.parsing.registry import PARSER_VERSION, Format, expected_sources

_TOLD_BY_FILES = {"limits", "source_order", "use_text_txt", "grobid"}
"""Settings whose effect on a paper shows in its files, their order and their problems."""


def examined(paper: Paper, settings: ParsingSettings, known: KnownFiles) -> list[Paper]:
    """The paper with its fingerprint and the format and hash of each file, best file first by
    `settings.source_order`.

    A file that cannot be parsed gets its problem, and the rank that its suffix promises. A second
    file of one format becomes a paper of its own with a problem, because only one of them can be
    read. known: files that were read before.
    """
    if paper.problem:
        return [fingerprinted(paper, settings)]
    order = settings.source_order

    def rank(file: PaperFile) -> tuple[int, str]:
        sources = (file.format.source,) if file.format else expected_sources(file.path.name)
        best = min(
            (order.index(source) for source in sources if source in order), default=len(order)
        )
        return best, file.relative

    first_of: dict[Format, PaperFile] = {}
    files: list[PaperFile] = []
    seconds: list[Paper] = []
    for file in sorted((_examined_file(file, settings, known) for file in paper.files), key=rank):
        if file.format is None or first_of.setdefault(file.format, file) is file:
            files.append(file)
            continue
        problem = (
            f"{file.relative} is not read: {first_of[file.format].relative} has the same name and the same format. "
            "Remove one of them, or rename it if it is another paper."
        )
        seconds.append(Paper(safe_id(f"{paper.paper_id}/{len(seconds) + 2}"), (file,), problem))
    return [fingerprinted(one, settings) for one in (replace(paper, files=tuple(files)), *seconds)]


def fingerprinted(paper: Paper, settings: ParsingSettings) -> Paper:
    """The limits count only for papers of which a file failed; why GROBID failed does not count,
    since it may word the same failure in another way each time."""
    files = [
        (
            one.relative,
            one.sha256,
            one.read_by or one.problem,
            one.format and (one.format.parse, one.format.version),
        )
        for one in paper.files
    ]
    values = settings.model_dump(mode="json", exclude=_TOLD_BY_FILES)
    made_from = fingerprint(
        PARSER_VERSION, ALIGNMENT_VERSION, values, paper.paper_id, paper.problem, files
    )
    return replace(paper, fingerprint=made_from)


def _examined_file(file: PaperFile, settings: ParsingSettings, files: KnownFiles) -> PaperFile:
    """The file with the format and hash of its content, or the problem."""
    if file.problem:
        return file
    try:
        found = files.read(file.path)
    except OSError as error:
        return replace(file, problem=CANNOT_BE_OPENED.format(reason=error.strerror))
    if found.format is None:
        return replace(file, sha256=found.sha256, problem=found.problem)
    known, sha256 = registry.FORMATS[found.format], found.sha256
    problem = ""
    if known.source not in settings.source_order:
        problem = f"is {known.source}, which parsing.source_order leaves out. Add it there."
    elif known.source is Source.TEXT and not settings.use_text_txt:
        problem = "is text, and parsing.use_text_txt is off. Switch it on, or provide TEI or PDF."
    return replace(file, sha256=sha256, format=None if problem else known, problem=problem)


def is_pdf(file: PaperFile) -> bool:
    return file.format is not None and file.format.source is Source.PDF
