"""The columns of the published tables."""

import re
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.core import tables
from rag_assets.core.domain import Citation, Claim, LeftOut, QAResult
from rag_assets.core.table_files import published_or_empty, write_table
from rag_assets.core.tables import PASSAGES, description_of

SCHEMAS = [one for one in vars(tables).values() if isinstance(one, pa.Schema)]
OUTPUTS = Path(__file__).parents[1] / "docs" / "outputs.md"


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_column_says_what_it_holds(schema: pa.Schema) -> None:
    """The asset page shows these lines; a column without one has to be guessed from its name."""
    for field in schema:
        assert description_of(field).endswith("."), field.name


def test_the_docs_name_every_field_of_an_answer_and_no_other() -> None:
    """Whoever reads qa.jsonl with a program writes it after this table."""
    _, _, page = OUTPUTS.read_text("utf-8").partition("## qa.jsonl\n")
    rows = [line.split("|") for line in page.partition("\n## ")[0].splitlines() if "`" in line]
    named = {name.strip("[]") for row in rows for name in re.findall(r"`([\w.\[\]]+)`", row[1])}
    text = "".join(row[2] for row in rows)

    claims = {f"claims[].{field.name}" for field in fields(Claim)} - {"claims[].citations"}
    plain = {field.name for field in fields(QAResult)} - {"claims"}
    assert named == plain | claims | {"claims[].citations"}
    for kind in (Citation, LeftOut):
        assert [one.name for one in fields(kind) if f"`{one.name}`" not in text] == []


def test_another_wording_of_a_description_changes_no_byte_of_a_file(tmp_path: Path) -> None:
    """Else every table would be written, and its readers run, for a word in a docstring."""
    reworded = pa.schema([field.with_metadata({"description": "x"}) for field in PASSAGES])

    for name, schema in (("before", PASSAGES), ("after", reworded)):
        write_table(schema.empty_table(), tmp_path / name, {"settings": "s"})

    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_a_table_that_was_read_still_says_what_its_columns_hold(tmp_path: Path) -> None:
    """An unchanged run shows the page of the asset from the file, which has no descriptions."""
    write_table(PASSAGES.empty_table(), tmp_path / "passages.parquet", {"settings": "s"})

    read = published_or_empty(tmp_path / "passages.parquet", PASSAGES)

    assert [description_of(field) for field in read.table.schema] == [
        description_of(field) for field in PASSAGES
    ]
    assert read.provenance == {"settings": "s"}
