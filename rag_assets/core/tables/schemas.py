"""The columns of the published tables: name, type, and what a value means.

The descriptions are metadata of the fields (`description_of`); the files on disk do not hold them.
"""

import pyarrow as pa

_STRING, _INT, _BOOL, _FLOAT = pa.string(), pa.int32(), pa.bool_(), pa.float64()
_BOX = pa.struct(
    [("page", _INT), ("left", _FLOAT), ("top", _FLOAT), ("right", _FLOAT), ("bottom", _FLOAT)]
)
_SPAN = pa.struct(
    [
        ("start", _INT),
        ("end", _INT),
        ("page_start", _INT),
        ("page_end", _INT),
        ("boxes", pa.list_(_BOX)),
        ("source_start", _INT),
        ("page_confidence", _FLOAT),
        ("label_start", _STRING),
        ("label_end", _STRING),
        ("is_by_ocr", _BOOL),
    ]
)
_SECTION = pa.struct(
    [
        ("start", _INT),
        ("body_start", _INT),
        ("end", _INT),
        ("section_title", _STRING),
        ("section_path", _STRING),
    ]
)
_UNIT = pa.struct(
    [
        ("start", _INT),
        ("end", _INT),
        ("kind", _STRING),
        ("block", _INT),
        ("char_start", _INT),
        ("char_end", _INT),
    ]
)
_CELL = pa.struct(
    [
        ("row", _INT),
        ("col", _INT),
        ("text", _STRING),
        ("row_span", _INT),
        ("col_span", _INT),
        ("is_header", _BOOL),
        ("is_stub", _BOOL),
        ("is_group", _BOOL),
        ("group", pa.list_(_STRING)),
        ("boxes", pa.list_(_BOX)),
    ]
)

_DESCRIPTION = b"description"
_PAPER_ID = (
    "paper_id",
    _STRING,
    "Name of the paper's files without endings; with its folder where two share a name.",
)
_FILE_PATH = ("file_path", _STRING, "The file that was read, relative to the papers folder.")
_SOURCE = ("source", _STRING, "Format that was read: tei, ade, docling, pdf, markdown or text.")
_FINGERPRINT = (
    "fingerprint",
    _STRING,
    "Hash of all that the paper's rows follow from; another one makes them anew.",
)
_IS_GENERATED = ("is_generated", _BOOL, "Whether a model wrote the text (a figure's description).")
_PAGE_START = ("page_start", _INT, "First physical page, from 1; null where nothing proves one.")
_PAGE_END = ("page_end", _INT, "Last physical page; null where nothing proves one.")
_SPANS = pa.list_(_SPAN)


def _schema(*columns: tuple[str, pa.DataType, str]) -> pa.Schema:
    return pa.schema(
        [pa.field(name, type_, metadata={_DESCRIPTION: text}) for name, type_, text in columns]
    )


def description_of(field: pa.Field) -> str:
    """What a column of one of these schemas holds, as one sentence or two."""
    return str(field.metadata[_DESCRIPTION].decode())


PARSED_INDEX = _schema(
    _PAPER_ID,
    ("title", _STRING, "Title of the paper; empty if the file has none."),
    _SOURCE,
    _FILE_PATH,
    ("parsed_xml_path", _STRING, "The paper's TEI file, null if it has none."),
    ("parsed_txt_path", _STRING, "The paper's text file, null if it has none."),
    ("pdf_path", _STRING, "The paper's PDF, null if it has none."),
    ("linked_paths", pa.list_(_STRING), "All other files of the paper."),
    ("sha256", _STRING, "SHA-256 of the file that was read."),
    ("n_pages", _INT, "Pages of the document; null if not known."),
    (
        "page_source",
        _STRING,
        "What proves the pages: coords, pb, parser, aligned (with the PDF) or none.",
    ),
    ("page_labels", pa.list_(_STRING), "Label printed on each physical page, where it is known."),
    ("n_blocks", _INT, "Blocks of the paper."),
    ("n_headings", _INT, "Headings among them."),
    ("n_tables", _INT, "Tables among them."),
    ("n_source_chars", _INT, "Characters of text in the source, back matter aside."),
    (
        "n_dropped_running",
        _INT,
        "Blocks that were left out as running headers, footers or other noise.",
    ),
    (
        "used_fallback",
        _BOOL,
        "Whether the preferred file could not be used and another one was read.",
    ),
    (
        "notes",
        pa.list_(_STRING),
        "What a reader should know: a fallback that was used, a repair that was made.",
    ),
    (
        "n_pages_unread",
        _INT,
        "Pages of a PDF where something is printed and no text was found: pictures without OCR.",
    ),
    (
        "n_pages_cut",
        _INT,
        "Pages of a PDF whose text layer cuts many words in two: poor OCR, and none of ours.",
    ),
    ("status", _STRING, "parsed or quarantined; a quarantined paper has no rows elsewhere."),
    ("error", _STRING, "Why the paper is quarantined, and what to do about it."),
    _FINGERPRINT,
)
_PERSON = pa.struct(
    [("family", _STRING), ("given", _STRING), ("orcid", _STRING), ("affiliation", _STRING)]
)
PAPERS = _schema(
    _PAPER_ID,
    ("title", _STRING, "Title of the work; null, as all others, where it is not known."),
    (
        "authors",
        pa.list_(_PERSON),
        "Authors in order, with ORCID and affiliation where a header states them.",
    ),
    ("year", _INT, "Year in which it appeared."),
    ("venue", _STRING, "Journal, conference or series."),
    ("volume", _STRING, "Volume of the journal or series."),
    ("issue", _STRING, "Issue of the journal."),
    ("pages", _STRING, "Pages in the venue, as printed there."),
    ("doi", _STRING, "DOI in lower case, without a resolver."),
    ("arxiv", _STRING, "Id on arXiv, without version."),
    ("pmid", _STRING, "Id in PubMed."),
    ("abstract", _STRING, "Abstract of the paper."),
    ("keywords", pa.list_(_STRING), "Keywords as stated."),
    ("language", _STRING, "Code of the language, as stated."),
    ("licence", _STRING, "Licence, as a URL or in words."),
    (
        "type",
        _STRING,
        "Type of CSL: article-journal, paper-conference, chapter, book, thesis, report.",
    ),
    (
        "retracted",
        _STRING,
        "Who says that it was retracted: Crossref, OpenAlex, a list, or the paper itself and where; null: none does.",
    ),
    (
        "sources",
        pa.list_(pa.struct([("field", _STRING), ("source", _STRING)])),
        "Where each value comes from: header (TEI, front matter), first page, or the bibliography that states it.",
    ),
    (
        "own_title",
        _STRING,
        "Title by the paper's own files; entries of bibliographies are matched with it.",
    ),
    ("own_doi", _STRING, "DOI by the paper's own files."),
    ("own_arxiv", _STRING, "Id on arXiv by the paper's own files."),
    ("made_of", _STRING, "Hash of the document that it was read from."),
    _FINGERPRINT,
)
BLOCKS = _schema(
    _PAPER_ID,
    ("ordinal", _INT, "Place of the block in the paper, from 0."),
    ("kind", _STRING, "heading, paragraph, list, table, figure, formula, code or footnote."),
    ("text", _STRING, "Text of the block; a list has one item per line, a table one row per line."),
    ("section_path", pa.list_(_STRING), "Titles of the sections it is in, outermost first."),
    (
        "zone",
        _STRING,
        "title_page, front, body, annex, statements or back (the reference list), which is never indexed.",
    ),
    _PAGE_START,
    _PAGE_END,
    (
        "spans",
        _SPANS,
        "Stretches of the text with one page each: offsets, pages, boxes, printed labels.",
    ),
    ("title", _STRING, "Caption of a table or figure, language of code; else empty."),
    ("title_spans", _SPANS, "As spans, along the title."),
    (
        "cells",
        pa.list_(_CELL),
        "Cells of a table with their row, column and boxes, and whether they name columns, rows or a group of rows.",
    ),
    _IS_GENERATED,
    (
        "is_indexable",
        _BOOL,
        "Whether its text belongs into chunks: no heading, not back matter, not empty.",
    ),
    ("n_chars", _INT, "Characters of text and caption without white space and cell borders."),
    (
        "char_start",
        _INT,
        "Offset in the paper's text, which is its blocks joined with blank lines.",
    ),
    _FILE_PATH,
    _SOURCE,
    _FINGERPRINT,
)
CHUNKS = _schema(
    _PAPER_ID,
    (
        "section_id",
        _STRING,
        "Id of its section, or of the merged ones, made from titles and not from places.",
    ),
    ("section_title", _STRING, "Title of its section; of several, of the one they share."),
    (
        "chunk_id",
        _STRING,
        "paper_id and a hash of section and text: an edit elsewhere leaves it alone.",
    ),
    ("text", _STRING, "Text as it is read and cited."),
    ("n_tokens", _INT, "Size of the text, as chunking.tokenizer counts."),
    _PAGE_START,
    _PAGE_END,
    _FILE_PATH,
    _SOURCE,
    ("ordinal", _INT, "Place of the chunk in the paper, from 0."),
    ("section_path", _STRING, 'Titles from the outermost section inwards, joined with " > ".'),
    ("chunk_type", _STRING, "Kind of its blocks, headings aside, if all are alike; else mixed."),
    (
        "split_sequence",
        _STRING,
        "2/5: the second of five chunks of one section; null if the section was not cut.",
    ),
    ("is_continuation", _BOOL, "Whether it goes on where another chunk of its section ends."),
    (
        "context_before",
        _STRING,
        "Last words before it in its outermost section, for readers of this file; none of its text.",
    ),
    (
        "context_after",
        _STRING,
        "First words after it in its outermost section, for readers of this file; none of its text.",
    ),
    (
        "char_start",
        _INT,
        "Offset in the paper's text; sentences it repeats from the chunk before are included.",
    ),
    ("char_end", _INT, "End in the paper's text, exclusive."),
    (
        "boxes",
        pa.list_(_BOX),
        "Places on the pages, as fractions of width and height from the top left.",
    ),
    _IS_GENERATED,
    (
        "spans",
        _SPANS,
        "Stretches of the text with one page each: offsets, pages, boxes, printed labels.",
    ),
    (
        "own_start",
        _INT,
        "Before it, the text repeats an earlier chunk's sentences, or a table's title.",
    ),
    (
        "n_own_chars",
        _INT,
        "Characters of the paper it holds, counted as n_chars of blocks, repeats aside.",
    ),
    (
        "sections",
        pa.list_(_SECTION),
        "Its sections: offsets of heading and text, title and whole path.",
    ),
    (
        "units",
        pa.list_(_UNIT),
        "Sentences, rows, items, captions of the text: offsets, kind, block, place in the paper.",
    ),
    _FINGERPRINT,
)
SUMMARIES = _schema(
    _PAPER_ID,
    ("chunk_id", _STRING, "The chunk it is about."),
    (
        "summary",
        _STRING,
        "What the chunk is about, by a model; empty where its reply could not be used.",
    ),
    ("key", _STRING, "Hash of the chunk's text and titles, of the model and of what it was asked."),
    _FINGERPRINT,
)
PASSAGES = _schema(
    (
        "passage_id",
        _STRING,
        "The chunk's id, followed by # and a number where the chunk has several passages.",
    ),
    ("chunk_id", _STRING, "The chunk it was cut from."),
    _PAPER_ID,
    (
        "text",
        _STRING,
        "Text that is embedded and indexed: repeated_title on a line, then its own text.",
    ),
    ("n_tokens", _INT, "Size in the embedding model's own tokens, special ones included."),
    ("char_start", _INT, "Offset in the paper's text; for a table row, of its line."),
    ("char_end", _INT, "End in the paper's text, exclusive."),
    _PAGE_START,
    _PAGE_END,
    ("chunk_start", _INT, "Where its own text begins in the chunk's text."),
    ("chunk_end", _INT, "Where its own text ends in the chunk's text, exclusive."),
    (
        "repeated_title",
        _STRING,
        "Beginning of the title of its table or figure; empty if it repeats none.",
    ),
    ("section_title", _STRING, "Title of the section it begins in."),
    ("section_path", _STRING, 'Titles from the outermost section inwards, joined with " > ".'),
    (
        "row_hash",
        _STRING,
        "Hash of all that an index keeps of it; an index holds the passages it describes.",
    ),
    (
        "heading_text",
        _STRING,
        "Title of the paper and of its sections: searched beside the text, never quoted.",
    ),
    (
        "summary",
        _STRING,
        "What its chunk is about, by a model: searched beside the text, never quoted; often empty.",
    ),
    _FINGERPRINT,
)
PROFILES = _schema(
    _PAPER_ID,
    ("title", _STRING, "Title of the paper; empty if the file has none."),
    ("file_words", pa.list_(_STRING), "Words of the file's name, in lower case."),
    (
        "page_words",
        pa.list_(_STRING),
        "Distinct words of the title and the first page, in lower case, sorted.",
    ),
    (
        "periods",
        pa.list_(_STRING),
        "Years and quarters of the file's name, else of the title, else of the first page.",
    ),
    (
        "first_page",
        _STRING,
        "Beginning of the first page, or of the document where no page is known.",
    ),
    _FINGERPRINT,
)
_MENTION = pa.struct([("start", _INT), ("end", _INT), ("is_reported", _BOOL)])
REFERENCES = _schema(
    _PAPER_ID,
    (
        "number",
        _INT,
        "Number of the entry, as printed or its place in the list; null: no reference list was found.",
    ),
    ("text", _STRING, "The entry of the reference list, without its number."),
    (
        "year",
        _STRING,
        "First year in it, with the letter of works of one year (2019b); null if it has none.",
    ),
    ("doi", _STRING, "DOI in it, in lower case; null if it has none."),
    ("page", _INT, "Physical page it stands on; null if it is not known."),
    (
        "mentions",
        pa.list_(_MENTION),
        "Sentences that refer to it: offsets in the paper's text, and whether they tell what it says, not what the "
        "paper did.",
    ),
    _FINGERPRINT,
)


def schema_problems(found: pa.Schema, wanted: pa.Schema) -> list[str]:
    """One line per column that is missing, unknown, out of order or of another type."""
    if found.equals(wanted, check_metadata=False):
        return []
    problems = [
        f"column {field.name} is missing"
        if field.name not in found.names
        else f"column {field.name} is of another type"
        for field in wanted
        if field.name not in found.names or found.field(field.name).type != field.type
    ]
    problems += [f"column {name} is unknown" for name in found.names if name not in wanted.names]
    return problems or [f"columns are in the order {found.names}, wanted {wanted.names}"]
