"""How many values of tables stand in their chunks with the names of their row, its group and all
header levels.

    python -m benchmarks.table_names TRUTH.jsonl PAPERS [--part PART] [--show]

A line of TRUTH holds a value read by hand: `source`, `file`, `table` (from 0 in the file), `row`
("group > label"), `column` ("upper / lower") and `value`. The files, anywhere below the folder
PAPERS, are parsed and chunked as the pipeline does it. A value is `strict` where one line of its
table has all its names, and none that only other values of the table have; `wrong` where each line
has such a name of others; `ambiguous` where a name is missing. Files are parted in two by a hash of
their name: the rules were tuned on the first part. Printed text is third parties'.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table_claims import PARTS, part_of
from rag_assets.core.domain import BlockKind
from rag_assets.core.settings import Settings
from rag_assets.core.text.tokens import token_counter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.statements.making import statements_of
from rag_assets.parsing.registry import parser_of, sniff, stem_of
from rag_assets.parsing.shared.files import RawFile

VERDICTS = ("strict", "ambiguous", "wrong", "missing")
SEPARATOR = " | "
CONTROL = re.compile(r"[\x00-\x1f]")


@dataclass(frozen=True)
class Value:
    """A value of a table with its names."""

    source: str
    path: Path
    table: int
    row: tuple[str, ...]
    column: tuple[str, ...]
    text: str

    def verdict(self, lines: Sequence[str], others: Sequence["Value"]) -> str:
        """How the lines of its table name it; `others` are the values of that table."""
        row, column = ([squashed(name) for name in names] for names in (self.row, self.column))
        rows = {squashed(name) for other in others for name in other.row} - {*row, *column}
        columns = {
            squashed(name)
            for other in others
            for name in other.column
            if other.column != self.column
        }
        columns = {
            name for name in columns if len(name) > 2 and name not in "".join((*column, *row))
        }
        found = set()
        for first, names, label in (
            place for line in lines for place in places_of(self.text, line)
        ):
            is_named = all(name in squashed(names) for name in row) and all(
                name in squashed(label) for name in column
            )
            levels = {squashed(level) for level in first.rpartition(": ")[2].split(" / ")}
            is_others = bool(levels & rows) or any(name in squashed(label) for name in columns)
            found.add("wrong" if is_others else "strict" if is_named else "ambiguous")
        return next((verdict for verdict in VERDICTS if verdict in found), "missing")


def squashed(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def places_of(value: str, line: str) -> Iterator[tuple[str, str, str]]:
    """For each cell of a line that holds the value: the first cell, all other cells, and the label
    before the value."""
    bounded = re.compile(rf"(?<![\w.,]){re.escape(value)}(?![\w%])")
    pieces = line.split(SEPARATOR)
    for nth, piece in enumerate(pieces):
        for found in bounded.finditer(piece):
            label = piece[: found.start()]
            if not label or ": " in label:
                yield pieces[0], SEPARATOR.join(pieces[:nth] + pieces[nth + 1 :]), label


def lines_of_tables(path: Path) -> list[list[str]]:
    """For each table of a file the lines of all its chunks."""
    settings = Settings()
    known = sniff(path.name, path.read_bytes())
    file = RawFile(stem_of(path.name) or path.stem, path.name, path.read_bytes())
    document = parser_of(known)(file, settings.parsing)
    counter = token_counter("wordpiece")
    lines: dict[int, list[str]] = defaultdict(list)
    for chunk in chunk_paper(
        document.paper_id,
        statements_of(document.blocks, counter),
        "",
        "text",
        settings.chunking,
        counter,
        "",
    ):
        for unit in chunk.units:
            lines[unit.block] += chunk.text[unit.start : unit.end].split("\n")
    return [lines[at] for at, block in enumerate(document.blocks) if block.kind is BlockKind.TABLE]


def values_in(truth: Path, papers: Path) -> Iterator[Value]:
    paths = {path.name: path for path in papers.rglob("*") if path.is_file()}
    for line in truth.read_text("utf-8").splitlines():
        one = json.loads(line)
        row, column = tuple(one["row"].split(" > ")), tuple(one["column"].split(" / "))
        yield Value(
            one["source"],
            paths[one["file"]],
            one["table"],
            row,
            column,
            CONTROL.sub(" ", one["value"]),
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("truth", type=Path)
    parser.add_argument("papers", type=Path)
    parser.add_argument("--part", choices=PARTS, help="only these files")
    parser.add_argument(
        "--show", action="store_true", help="print each value that is not strict, with its lines"
    )
    arguments = parser.parse_args()
    tables: dict[Path, dict[int, list[Value]]] = defaultdict(lambda: defaultdict(list))
    for value in values_in(arguments.truth, arguments.papers):
        if arguments.part in (None, part_of(value.path)):
            tables[value.path][value.table].append(value)
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for path, by_table in tables.items():
        lines = lines_of_tables(path)
        for nth, values in by_table.items():
            for value in values:
                said = lines[nth] if nth < len(lines) else []
                if not any(True for line in said for _ in places_of(value.text, line)):
                    said = [
                        line for each in lines for line in each
                    ]  # tables without text are counted there
                verdict = value.verdict(said, values)
                counts[value.source, part_of(path)][verdict] += 1
                if arguments.show and verdict != "strict":
                    print(
                        f"{path.name} {nth}: {' > '.join(value.row)} | {' / '.join(value.column)}: {value.text}"
                    )
                    print("   ", verdict, [line[:200] for line in said if value.text in line][:2])
    print(
        "| source | part | values | "
        + " | ".join(VERDICTS)
        + " |\n|---|---|---:|"
        + "---:|" * len(VERDICTS)
    )
    for (source, part), found in sorted(counts.items()):
        shares = " | ".join(f"{found[verdict] / found.total():.3f}" for verdict in VERDICTS)
        print(f"| {source} | {part} | {found.total()} | {shares} |")


if __name__ == "__main__":
    main()
