"""The numbered lines of papers: what an answer without a model can publish, in the order of each
paper.

A line is a sentence or a row of a table, chosen by the product's own rules, so that the reader is
trained on what it will be asked about. A question file names lines by their numbers, which hold for
one file of lines only.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from rag_assets.answering.extractive.candidates import CandidateKind, sentences
from rag_assets.answering.extractive.relevance import preceded
from rag_assets.answering.extractive.table_rows import rows_of, title_of
from rag_assets.answering.verify.quoted_text import SEPARATOR, QuotedTable, TableRow
from rag_assets.core.domain import Chunk, Context, ContextUnit
from rag_assets.core.incremental import write_atomically
from rag_assets.search.reranking.trained_reader import PrecededText

LINES_FILE, PAPERS_FOLDER = "lines.jsonl", "papers"
MOST_ROWS = 40
"""Of one paper; a paper of tables would otherwise be rows alone."""
_MAX_ROW_CHARS = 420
_KINDS = frozenset(CandidateKind)


class BadFile(Exception):
    """A file of lines or questions cannot be used; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, or a row behind the title of its table. A `trained_reader.Sentence`."""

    paper: str
    number: int
    """Among the lines of its paper, 0-based."""
    kind: str
    """A `CandidateKind`."""
    section: str
    """Titles from the outermost section inwards; empty where there are none."""
    before: str
    """What stands before it in its paragraph, at most some 200 characters; empty for rows."""
    text: str


def lines_of(chunks: Sequence[Chunk]) -> Iterator[Line]:
    """The lines of every paper, sorted by paper, each text once. chunks: of any papers, in any
    order."""
    ordered = sorted(chunks, key=lambda one: (one.paper_id, one.ordinal))
    for paper, own in groupby(ordered, key=lambda one: one.paper_id):
        yield from _of_paper(paper, [chunk for chunk in own if not chunk.is_generated])


def write_lines(lines: Sequence[Line], folder: Path) -> int:
    """Write them to `folder` as JSON lines, and each paper as a text file to read while questions
    are written.

    Returns the number of papers. Raises BadFile where the folder has lines already: questions may
    have been written for them, and their numbers would point at others.
    """
    if (folder / LINES_FILE).exists():
        raise BadFile(
            f"{folder / LINES_FILE} is there already, and questions may name its lines. Choose another folder, "
            "or delete it."
        )
    (folder / PAPERS_FOLDER).mkdir(parents=True, exist_ok=True)
    n_papers = 0
    for paper, own in groupby(lines, key=lambda one: one.paper):
        write_atomically(folder / PAPERS_FOLDER / f"{paper}.txt", _as_text(list(own)).encode())
        n_papers += 1
    rows = (json.dumps(asdict(line), ensure_ascii=False) + "\n" for line in lines)
    write_atomically(folder / LINES_FILE, "".join(rows).encode())
    return n_papers


def read_lines(file: Path) -> list[Line]:
    """What `write_lines` wrote. Raises BadFile."""
    lines: list[Line] = []
    next_numbers: dict[str, int] = {}
    for number, row in enumerate(text_of(file).split("\n"), start=1):
        if not row:
            continue
        line = _line(row)
        if line is None or line.number != next_numbers.get(line.paper, 0):
            raise BadFile(
                f"{file}, line {number} is not a line as the command `lines` writes it, in its order."
            )
        next_numbers[line.paper] = line.number + 1
        lines.append(line)
    if not lines:
        raise BadFile(f"{file} holds no lines.")
    return lines


def text_of(file: Path) -> str:
    """The text of a file in UTF-8, lines ended by a line feed. Raises BadFile."""
    try:
        return file.read_text("utf-8-sig")
    except OSError as error:
        raise BadFile(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{file} is not UTF-8 at byte {error.start}.") from error


def _of_paper(paper: str, chunks: Sequence[Chunk]) -> Iterator[Line]:
    contexts = [_whole(chunk) for chunk in chunks]
    found = [
        (one.context, one.start, CandidateKind.SENTENCE, preceded(one))
        for one in sentences(contexts)
    ]
    found += [
        (nth, row.start, CandidateKind.ROW, PrecededText(_titled(context, table, row)))
        for nth, context in enumerate(contexts)
        for table, row in rows_of(context)
    ]
    seen: set[str] = set()
    n_rows = 0
    for nth, start, kind, (text, before) in sorted(found, key=lambda one: one[:2]):
        is_row = kind is CandidateKind.ROW
        if text in seen or (is_row and n_rows == MOST_ROWS):
            continue
        _, section = chunks[nth].section_at(start)
        yield Line(paper, len(seen), str(kind), section, before, text)
        seen.add(text)
        n_rows += is_row


def _titled(context: Context, table: QuotedTable, row: TableRow) -> str:
    title = [title_of(table)] if title_of(table) else []
    return SEPARATOR.join([*title, context.text[row.start : row.end]])[:_MAX_ROW_CHARS]


def _whole(chunk: Chunk) -> Context:
    """A chunk as one context: the reader's candidates of a question come from parts of chunks."""
    return Context(
        paper_id=chunk.paper_id,
        chunk_id=chunk.chunk_id,
        page_start=chunk.page_start,
        page_end=chunk.page_end,
        n_tokens=chunk.n_tokens,
        text=chunk.text,
        section_title=chunk.section_title,
        units=tuple(
            ContextUnit(unit.start, unit.end, unit.kind, unit.block) for unit in chunk.units
        ),
    )


def _as_text(lines: Sequence[Line]) -> str:
    shown: list[str] = []
    for section, own in groupby(lines, key=lambda one: one.section):
        shown.append(f"## {section}")
        for line in own:
            mark = "[row] " if line.kind == CandidateKind.ROW else ""
            shown.append(f"{line.number} {mark}{' '.join(line.text.split())}")
    return "\n".join(shown) + "\n"


def _line(row: str) -> Line | None:
    """None where a row is not what `write_lines` writes."""
    try:
        line = Line(**json.loads(row))
    except (ValueError, TypeError):
        return None
    texts = (line.paper, line.kind, line.section, line.before, line.text)
    is_right = (
        all(isinstance(text, str) for text in texts)
        and line.kind in _KINDS
        and bool(line.text.strip())
    )
    return line if is_right else None
