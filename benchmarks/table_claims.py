"""How often the verifier accepts a wrong claim about a table and refuses a true one, on tables of
real documents.

    python -m benchmarks.table_claims FOLDER [FOLDER ...] [--of-a-kind N] [--show N]

Each FOLDER holds documents that the pipeline reads (ADE or Docling JSON, TEI). They are parsed and
chunked as the pipeline does it; from every table, up to N claims of each kind are made, quoting the
line of the chunk that holds the row. Documents are parted in two by a hash of the file's name: the
rules were tuned on the first part, the second was held out. Printed text is third parties', keep it
out of files.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.table_cases import KINDS, Case, cases_of, grid_of
from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.verification import verify
from rag_assets.core.errors import RagAssetsError
from rag_assets.core.settings import Settings
from rag_assets.core.text.tokens import token_counter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.statements.making import statements_of
from rag_assets.parsing.registry import parser_of, sniff, stem_of
from rag_assets.parsing.shared.files import RawFile

PARTS = ("tuned on", "held out")


def part_of(path: Path) -> str:
    return PARTS[int(hashlib.sha256(path.name.encode()).hexdigest()[:4], 16) % 2]


def cases_in(folder: Path, most_of_a_kind: int) -> Iterator[tuple[str, Case]]:
    """Every case with the part its document belongs to."""
    settings, counter = Settings(), token_counter("wordpiece")
    for path in sorted(
        path for path in folder.rglob("*") if path.suffix in (".json", ".xml") and path.is_file()
    ):
        try:
            known = sniff(path.name, path.read_bytes())
            document = parser_of(known)(
                RawFile(stem_of(path.name) or path.stem, path.name, path.read_bytes()),
                settings.parsing,
            )
        except RagAssetsError as error:
            print(f"{path.name} left out: {error}")
            continue
        chunks = chunk_paper(
            document.paper_id,
            statements_of(document.blocks, counter),
            "",
            "text",
            settings.chunking,
            counter,
            "",
        )
        for nth, block in enumerate(document.blocks):
            grid = grid_of(block) if block.cells else None
            for case in (
                cases_of(grid, chunks, most_of_a_kind, f"{path.name} {nth}") if grid else ()
            ):
                yield part_of(path), case


def is_accepted(case: Case) -> bool:
    """Whether the claim is published; also counts as refused when its quote is not found."""
    claim = DraftClaim(
        case.claim, tuple(DraftCitation(case.chunk.chunk_id, quote) for quote in case.quotes)
    )
    return bool(verify(DraftAnswer((claim,)), {case.chunk.chunk_id: case.chunk}, "").claims)


def table(outcomes: Counter[tuple[str, str, bool]]) -> Iterator[str]:
    yield (
        "| kind | " + " | ".join(f"{part}: n | wrong" for part in PARTS) + " |\n|---|" + "---:|" * 4
    )
    for kind in (*KINDS, None):
        for is_true in (True, False) if kind is None else (kind.startswith("true"),):
            row = []
            for part in PARTS:
                counts = Counter(
                    {
                        accepted: sum(
                            n
                            for (one, of_part, was), n in outcomes.items()
                            if of_part == part
                            and was == accepted
                            and one.startswith("true") == is_true
                            and kind in (None, one)
                        )
                        for accepted in (True, False)
                    }
                )
                n, wrong = counts.total(), counts[not is_true]
                row.append(f"{n} | {wrong} ({wrong / n:.1%})" if n else "0 | ")
            name = kind or ("**true ones refused**" if is_true else "**false ones accepted**")
            yield f"| {name} | " + " | ".join(row) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument(
        "--of-a-kind", type=int, default=6, help="most cases of each kind from one table"
    )
    parser.add_argument(
        "--show", type=int, default=0, help="failures printed of each kind and part"
    )
    given = parser.parse_args()
    if missing := [str(folder) for folder in given.folders if not folder.is_dir()]:
        print(
            f"Nothing measured: {', '.join(missing)} is not there. Name folders with ADE, Docling or TEI documents."
        )
        return
    outcomes: Counter[tuple[str, str, bool]] = Counter()
    failures: dict[tuple[str, str], list[Case]] = {}
    for folder in given.folders:
        for part, case in cases_in(folder, given.of_a_kind):
            accepted = is_accepted(case)
            outcomes[case.kind, part, accepted] += 1
            if accepted != case.is_true:
                failures.setdefault((case.kind, part), []).append(case)
    for line in table(outcomes):
        print(line)
    for (kind, part), cases in sorted(failures.items()):
        for case in cases[: given.show]:
            print(
                f"\n{kind} ({part})\n  claim: {case.claim}\n  quote: {' // '.join(case.quotes)[:700]}"
            )


if __name__ == "__main__":
    main()
