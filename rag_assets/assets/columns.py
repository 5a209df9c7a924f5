"""What each column of the published tables holds, for the pages of the assets in the UI.

Types come from the schemas in `tables`; a column of one name means the same in every table.
"""

import dagster as dg
import pyarrow as pa

DESCRIPTIONS = {
    "paper_id": "Name of the paper's files without their suffixes; folder__name where two papers share a name.",
    "title": "Title of the paper (parsed_index), or of a table or figure (blocks).",
    "source": "Format that was read: tei, ade, docling, pdf, markdown or text.",
    "file_path": "File that was read, from the papers folder.",
    "parsed_xml_path": "The paper's TEI file, if there is one.",
    "parsed_txt_path": "The paper's text file, if there is one.",
    "pdf_path": "The paper's PDF, if there is one.",
    "linked_paths": "The paper's other files.",
    "sha256": "SHA-256 of the file that was read.",
    "n_pages": "Pages of the document; null if unknown.",
    "page_source": "What proves the pages: coords, pb, parser, aligned (with the PDF) or none.",
    "page_labels": "Page numbers as printed, by physical page.",
    "n_blocks": "Blocks of the paper.",
    "n_source_chars": "Characters of text in the source, back matter aside.",
    "n_dropped_running": "Blocks left out as running headers and footers.",
    "used_fallback": "Whether the best file could not be used, and another one was read.",
    "notes": "What the parser noticed.",
    "status": "parsed, or quarantined: then error says why, and the paper has no rows elsewhere.",
    "error": "Why the paper was quarantined, and what to do.",
    "fingerprint": "Hash of everything the row follows from; a row is made anew when it changes.",
    "ordinal": "Place in the paper, from 0.",
    "kind": "heading, paragraph, list, table, figure, formula, code, footnote, ...",
    "text": "The text.",
    "section_path": "Headings above, outermost first.",
    "zone": "front, body or back (references, acknowledgements).",
    "page_start": "First physical page, from 1; null if nothing proves one.",
    "page_end": "Last physical page; null if nothing proves one.",
    "spans": "Places of stretches of the text: characters, pages, boxes, printed labels.",
    "title_spans": "Places of the title, as spans.",
    "cells": "Cells of a table, with row, column and boxes.",
    "is_indexable": "Whether the text, or the caption without one, belongs into chunks.",
    "n_chars": "Characters of text and caption, white space aside.",
    "is_generated": "Whether a model wrote the text (a figure's description).",
    "char_start": "First character in the document.",
    "char_end": "End in the document, exclusive.",
    "section_id": "Id of the section within its paper.",
    "section_title": "Nearest heading above.",
    "chunk_id": "Hash of paper and content: an edit elsewhere leaves it alone.",
    "n_tokens": "Tokens: as chunking.tokenizer counts in chunks, as the embedding model reads in passages.",
    "chunk_type": "text, table, figure, ...",
    "split_sequence": 'Which part of a section that was cut, as "2/5".',
    "is_continuation": "Whether the chunk begins in the middle of a section.",
    "context_before": "Text before the chunk in its paper; not cited.",
    "context_after": "Text after the chunk in its paper; not cited.",
    "boxes": "Places on the pages, 0 to 1 from the top left.",
    "own_start": "Where the text begins that is not repeated from the chunk before.",
    "n_own_chars": "Characters that are not repeated from the chunk before, white space aside.",
    "sections": "Bounds and headings of the sections in the chunk.",
    "units": "Bounds and kinds of the sentences, rows, items and titles that the chunk was cut from.",
    "chunk_start": "First character in the chunk's text.",
    "chunk_end": "End in the chunk's text, exclusive.",
    "repeated_title": "Beginning of a table's or figure's title, repeated above the text; mostly empty.",
    "row_hash": "Hash of what the indexes hold of the passage.",
    "passage_id": "The chunk's id, followed by # and a number where a chunk has several passages.",
}


def table_schema(schema: pa.Schema) -> dg.MetadataValue:
    """A table's columns with types and descriptions; `dagster/column_schema` in a materialization."""
    columns = [dg.TableColumn(field.name, _type_name(field.type), DESCRIPTIONS.get(field.name)) for field in schema]
    return dg.MetadataValue.table_schema(dg.TableSchema(columns))


def _type_name(type_: pa.DataType) -> str:
    """A short name: the fields of a struct would fill the page."""
    if pa.types.is_list(type_):
        return f"list<{_type_name(type_.value_type)}>"
    return "struct" if pa.types.is_struct(type_) else str(type_)
