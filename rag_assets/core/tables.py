"""The published tables: their columns (name, type and description), the conversion of values to rows
and back, and tables split by paper. Files are in `table_files`.

A column that is a field of a dataclass takes its type and description from there
(`description_of`); the files on disk do not contain descriptions. pyarrow.compute is imported in
the functions that need it, because its import took a seventh of the time that a parse worker needs
to start.

Descriptions of columns are the docstrings below the fields of dataclasses, read from their source.
"""

import ast
import gc
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from itertools import pairwise
from textwrap import dedent
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

import pyarrow as pa
from pydantic import TypeAdapter

from rag_assets.core.domain import (
    Block,
    Cell,
    Chunk,
    Passage,
    Record,
    Statement,
    first_page,
    last_page,
)
from rag_assets.core.incremental import sorted_version

_STRING, _INT, _BOOL = pa.string(), pa.int32(), pa.bool_()
_TYPES = {bool: _BOOL, int: _INT, float: pa.float64(), str: _STRING}
_ROWS: dict[str, type] = {
    kind.__name__: kind for kind in (Block, Chunk, Passage, Record, Statement)
}
_DESCRIPTION, _FIELD_OF = b"description", b"field_of"


def _schema(names: str, *kinds: type, **own_columns: tuple[pa.DataType, str]) -> pa.Schema:
    """The schema of a table.

    names: the columns in their order. own_columns: type and description of some columns. kinds:
    dataclasses; any other column is the field of that name in the first of them that has it.
    """
    field_types = [_field_types(kind) for kind in kinds]
    kind_names = " ".join(kind.__name__ for kind in kinds)
    columns = []
    for name in names.split():
        if name in own_columns:
            type_, text = own_columns[name]
            columns.append(pa.field(name, type_, metadata={_DESCRIPTION: text}))
        else:
            type_ = next(types[name] for types in field_types if name in types)
            columns.append(pa.field(name, type_, metadata={_FIELD_OF: kind_names}))
    return pa.schema(columns)


@cache
def _field_types(kind: Any) -> dict[str, pa.DataType]:
    """Field of a dataclass -> type of the column for it."""
    hints = get_type_hints(kind)
    return {field.name: _type(hints[field.name]) for field in fields(kind)}


def _type(annotation: Any) -> pa.DataType:
    """The type of the column for a field: text for an enumeration, a struct for a dataclass, a list
    for a tuple; `X | None` is stored like X."""
    if isinstance(annotation, type) and is_dataclass(annotation):
        return pa.struct(list(_field_types(annotation).items()))
    if isinstance(annotation, type):
        return next(type_ for base, type_ in _TYPES.items() if issubclass(annotation, base))
    (inner,) = (part for part in get_args(annotation) if part not in (NoneType, ...))
    is_optional = NoneType in get_args(annotation)
    return _type(inner) if is_optional else pa.list_(_type(inner))


def description_of(field: pa.Field) -> str:
    """The description of a column of one of these schemas: one or two sentences."""
    if text := field.metadata.get(_DESCRIPTION):
        return str(text.decode())
    kinds = (_ROWS[name] for name in field.metadata[_FIELD_OF].decode().split())
    return next(docs[field.name] for kind in kinds if field.name in (docs := field_docs(kind)))


_SPANS, _BOXES = _field_types(Chunk)["spans"], _field_types(Cell)["boxes"]
PARSED_INDEX = _schema(
    """paper_id title source file_path parsed_xml_path parsed_txt_path pdf_path linked_paths
    sha256 n_pages page_source page_labels n_blocks n_headings n_tables n_source_chars
    n_dropped_running used_fallback notes n_pages_unread n_pages_cut is_cut_off status error
    fingerprint""",
    Chunk,
    title=(_STRING, "Title of the paper; empty if the file has none."),
    parsed_xml_path=(_STRING, "The paper's TEI file, null if it has none."),
    parsed_txt_path=(_STRING, "The paper's text file, null if it has none."),
    pdf_path=(_STRING, "The paper's PDF, null if it has none."),
    linked_paths=(pa.list_(_STRING), "All other files of the paper."),
    sha256=(_STRING, "SHA-256 of the file that was read."),
    n_pages=(_INT, "Pages of the document; null if not known."),
    page_source=(
        _STRING,
        "What proves the pages: coords, pb, parser, aligned (with the PDF) or none.",
    ),
    page_labels=(pa.list_(_STRING), "Label printed on each physical page, where it is known."),
    n_blocks=(_INT, "Blocks of the paper."),
    n_headings=(_INT, "Headings among them."),
    n_tables=(_INT, "Tables among them."),
    n_source_chars=(_INT, "Characters of text in the source, back matter aside."),
    n_dropped_running=(
        _INT,
        "Blocks that were left out as running headers, footers or other noise.",
    ),
    used_fallback=(_BOOL, "Whether the preferred file could not be used and another one was read."),
    notes=(
        pa.list_(_STRING),
        "What a reader should know: a fallback that was used, a repair that was made.",
    ),
    n_pages_unread=(
        _INT,
        "Pages of a PDF that gave no text though something is printed: pictures without OCR, failures.",
    ),
    n_pages_cut=(
        _INT,
        "Pages of a PDF whose text layer cuts many words in two: poor OCR, and none of ours.",
    ),
    is_cut_off=(_BOOL, "Whether the end of the file that was read is missing."),
    status=(_STRING, "parsed or quarantined; a quarantined paper has no rows elsewhere."),
    error=(_STRING, "Why the paper is quarantined, and what to do about it."),
)
PAPERS = _schema(
    """paper_id title authors year venue about volume issue pages doi arxiv pmid abstract keywords
    language licence type retracted text_hash sources own_title own_doi own_arxiv made_of fingerprint""",
    Record,
    Chunk,
    sources=(
        pa.list_(pa.struct([("field", _STRING), ("source", _STRING)])),
        "Where each value was read: header (TEI, front matter), first page (and metadata, where the PDF's say the same), "
        "or the bibliography that states it; what a registry says otherwise; of title, authors, year and DOI that are "
        "null, where they were looked for.",
    ),
    own_title=(
        _STRING,
        "Title by the paper's own files; entries of bibliographies are matched with it.",
    ),
    own_doi=(_STRING, "DOI by the paper's own files."),
    own_arxiv=(_STRING, "Id on arXiv by the paper's own files."),
    made_of=(_STRING, "Hash of the document that it was read from."),
)
BLOCKS = _schema(
    """paper_id ordinal kind text section_path zone page_start page_end spans title
    title_spans cells is_generated is_indexable n_chars char_start file_path source
    fingerprint""",
    Block,
    Chunk,
    ordinal=(_INT, "Place of the block in the paper, from 0."),
    title_spans=(_SPANS, "As spans, along the title."),
    is_indexable=(
        _BOOL,
        "Whether its text belongs into chunks: no heading, not back matter, not empty.",
    ),
    n_chars=(_INT, "Characters of text and caption without white space and cell borders."),
    char_start=(_INT, "Offset in the paper's text, which is its blocks joined with blank lines."),
)
STATEMENTS = _schema(
    """paper_id number kind text n_tokens n_chars section_path zone block block_kind char_start
    char_end page_start page_end gap spans is_verbatim title title_spans is_generated file_path
    source fingerprint""",
    Statement,
    Chunk,
    title_spans=(_SPANS, "As spans, along the title."),
)
CHUNKS = _schema(
    """paper_id section_id section_title chunk_id text n_tokens page_start page_end
    file_path source ordinal section_path chunk_type split_sequence is_continuation
    context_before context_after char_start char_end boxes is_generated spans own_start
    n_own_chars sections units fingerprint""",
    Chunk,
    boxes=(_BOXES, "Places on the pages, as fractions of width and height from the top left."),
)
SUMMARIES = _schema(
    """paper_id chunk_id summary key fingerprint""",
    Chunk,
    chunk_id=(_STRING, "The chunk it is about."),
    summary=(
        _STRING,
        "What the chunk is about, by a model; empty where its reply could not be used.",
    ),
    key=(_STRING, "Hash of the chunk's text and titles, of the model and of what it was asked."),
)
PASSAGES = _schema(
    """passage_id chunk_id paper_id text n_tokens char_start char_end page_start page_end
    chunk_start chunk_end repeated_title section_title section_path row_hash heading_text
    summary fingerprint""",
    Passage,
    Chunk,
)
PROFILES = _schema(
    """paper_id title file_words page_words periods first_page fingerprint""",
    Chunk,
    title=(_STRING, "Title of the paper; empty if the file has none."),
    file_words=(pa.list_(_STRING), "Words of the file's name, in lower case."),
    page_words=(
        pa.list_(_STRING),
        "Distinct words of the title and the first page, in lower case, sorted.",
    ),
    periods=(
        pa.list_(_STRING),
        "Years and quarters of the file's name, else of the title, else of the first page.",
    ),
    first_page=(_STRING, "Beginning of the first page, or of the document where no page is known."),
)
_MENTION = pa.struct([("statement", _INT), ("is_reported", _BOOL)])
REFERENCES = _schema(
    """paper_id number text year doi page mentions fingerprint""",
    Chunk,
    number=(
        _INT,
        "Number of the entry, as printed or its place in the list; null: no reference list was found.",
    ),
    text=(_STRING, "The entry of the reference list, without its number."),
    year=(
        _STRING,
        "First year in it, with the letter of works of one year (2019b); null if it has none.",
    ),
    doi=(_STRING, "DOI in it, in lower case; null if it has none."),
    page=(_INT, "Physical page it stands on; null if it is not known."),
    mentions=(
        pa.list_(_MENTION),
        "Statements that refer to it: their numbers, and whether they tell what it says, not what the paper did.",
    ),
)


def schema_problems(found: pa.Schema, wanted: pa.Schema) -> list[str]:
    """One line for each column that is missing, unknown or of another type, which includes whether
    it may be null; if there is none, one line for columns in another order. Empty if the schemas
    agree."""
    if found.equals(wanted, check_metadata=False):
        return []
    problems = [
        f"column {field.name} is missing"
        if field.name not in found.names
        else f"column {field.name} is of another type"
        for field in wanted
        if field.name not in found.names or not found.field(field.name).equals(field)
    ]
    problems += [f"column {name} is unknown" for name in found.names if name not in wanted.names]
    return problems or [f"columns are in the order {found.names}, wanted {wanted.names}"]


T = TypeVar("T")
_PART = 10_000
"""Number of texts that are Python objects at the same time."""


def by_paper(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Id and rows of each paper of a table, which is sorted by paper_id."""
    ids = table["paper_id"].to_pylist()
    starts = [at for at in range(len(ids)) if at == 0 or ids[at] != ids[at - 1]]
    for start, end in pairwise([*starts, len(ids)]):
        yield ids[start], table.slice(start, end - start)


def packed(table: pa.Table) -> bytes:
    """A table as bytes that another process can read: an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def unpacked(content: bytes) -> pa.Table:
    """The table that `packed` wrote; it uses the memory of `content`."""
    return pa.ipc.open_stream(content).read_all()


def fingerprints_by_paper(table: pa.Table) -> dict[str, str]:
    """paper_id -> fingerprint of a table in which all rows of a paper share one fingerprint."""
    return dict(zip(table["paper_id"].to_pylist(), table["fingerprint"].to_pylist(), strict=True))


def in_parts(column: pa.ChunkedArray) -> Iterator[list[str]]:
    """The texts of a column in parts of 10,000, because a process would keep much of the memory
    that millions of texts need at once."""
    for start in range(0, len(column), _PART):
        yield column.slice(start, _PART).to_pylist()


def passages_version(passages: pa.Table) -> str:
    """Data version of the passages, from their ids and row hashes. An index stores the version of
    the passages it was made from."""
    ordered = passages.select(["passage_id", "row_hash"]).sort_by("passage_id")
    parts = zip(in_parts(ordered["passage_id"]), in_parts(ordered["row_hash"]), strict=True)
    return sorted_version(pair for ids, hashes in parts for pair in zip(ids, hashes, strict=True))


def rows_of(table: pa.Table, key: str, values: Iterable[str]) -> pa.Table:
    """The rows whose column `key` has one of `values`, in the order of the table."""
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table[key], value_set=pa.array(list(values), pa.string())))


def rows_without(table: pa.Table, papers: Iterable[str]) -> pa.Table:
    """The rows of all papers but these."""
    import pyarrow.compute as pc

    return table.filter(
        pc.invert(pc.is_in(table["paper_id"], value_set=pa.array(list(papers), pa.string())))
    )


def merged(kept: pa.Table, new: pa.Table, sort_by: Sequence[str]) -> pa.Table:
    """One table of both, sorted by the columns `sort_by`, ascending."""
    return pa.concat_tables([kept, new]).sort_by([(column, "ascending") for column in sort_by])


def to_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """The table of these rows. A column that is missing in a row becomes null; an unknown one
    raises KeyError."""
    names = set(schema.names)
    for row in rows:
        if unknown := row.keys() - names:
            raise KeyError(f"columns {sorted(unknown)} are not in the schema")
    return pa.Table.from_pylist([dict(row) for row in rows], schema=schema)


def chunk_row(chunk: Chunk) -> dict[str, Any]:
    return asdict(chunk) | {"boxes": [asdict(box) for box in chunk.boxes]}


def chunks_from(table: pa.Table) -> list[Chunk]:
    return _values(Chunk, table)


def passage_row(passage: Passage, fingerprint: str) -> dict[str, Any]:
    return asdict(passage) | {"fingerprint": fingerprint}


def passages_from(table: pa.Table) -> list[Passage]:
    return _values(Passage, table)


def records_from(table: pa.Table) -> dict[str, Record]:
    """Id of a paper -> its record."""
    return dict(zip(table["paper_id"].to_pylist(), _values(Record, table), strict=True))


def block_rows(
    blocks: Sequence[Block], common: Mapping[str, Any], starts: Sequence[int]
) -> list[dict[str, Any]]:
    """The rows of the blocks of one document. common: the columns that are the same for all rows.
    starts: offset of each block in the text of the paper."""
    return [
        {
            **common,
            **asdict(block),
            "ordinal": ordinal,
            "page_start": block.page_start,
            "page_end": block.page_end,
            "is_indexable": block.is_indexable,
            "n_chars": block.n_chars,
            "char_start": start,
        }
        for ordinal, (block, start) in enumerate(zip(blocks, starts, strict=True))
    ]


def statement_rows(
    statements: Sequence[Statement], common: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The rows of one paper's statements. common: the columns that are the same for all rows."""
    return [
        {
            **common,
            **asdict(statement),
            "page_start": first_page(statement.spans),
            "page_end": last_page(statement.spans),
        }
        for statement in statements
    ]


def statements_from(table: pa.Table) -> list[Statement]:
    """Statements of one paper, in the order of the rows."""
    return _values(Statement, table)


def blocks_from(table: pa.Table) -> list[Block]:
    """Blocks of one paper, in the order of the rows."""
    return _values(Block, table)


@cache
def _reader(kind: type[T]) -> TypeAdapter[list[T]]:
    return TypeAdapter(list[kind])  # type: ignore[valid-type]


def _values(kind: type[T], table: pa.Table) -> list[T]:
    """A value of the dataclass `kind` for each row; a field is the column of the same name."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    rows = table.select(names).to_pylist()
    return _reader(kind).validate_python(rows)  # type: ignore[arg-type]


@cache
def field_docs(kind: type) -> dict[str, str]:
    """Field name -> docstring below the field, on one line. Includes the fields of base classes;
    fields without a docstring are left out."""
    docs: dict[str, str] = {}
    for base in filter(is_dataclass, reversed(kind.__mro__)):
        with _no_garbage_collected():
            (class_,) = ast.parse(dedent(inspect.getsource(base))).body
        assert isinstance(class_, ast.ClassDef)
        for statement, next_statement in pairwise(class_.body):
            match statement, next_statement:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                    value=ast.Constant(value=str(text))
                ):
                    docs[name] = " ".join(text.split())
    return docs


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Turn the garbage collector off within the block.

    The collector may delete an object whose deletion logs an error, and Python parses source code
    to show an error. In Python 3.11 such a second parse makes the first one fail with "AST
    constructor recursion depth mismatch" (CPython issue 106905).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
