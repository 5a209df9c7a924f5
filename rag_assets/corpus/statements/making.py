"""The table of statements: made from the blocks of each paper, and what is promised of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import BLOCK_SEPARATOR, Block, BlockKind, Statement
from rag_assets.core.paper_tables import (
    PapersUpdate,
    QuarantinedPaper,
    RowsByPaper,
    none_quarantined,
)
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.tables import STATEMENTS, blocks_from, statement_rows, to_table
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.core.workforce.workforce import Spread
from rag_assets.corpus.each_paper import PaperJob, PaperOutcome, made_or_quarantined, update_each
from rag_assets.corpus.statements.pieces import (
    Cut,
    figure,
    lines,
    placed_blocks,
    sentences,
    whole,
)
from rag_assets.corpus.statements.rows import rows

STATEMENTS_VERSION = 1
"""Raise it when the same blocks give other statements than before."""

_CUTS: Mapping[BlockKind, Cut] = {
    BlockKind.HEADING: whole,
    BlockKind.PARAGRAPH: sentences,
    BlockKind.FOOTNOTE: sentences,
    BlockKind.FORMULA: whole,
    BlockKind.LIST: lines,
    BlockKind.CODE: lines,
    BlockKind.TABLE: rows,
    BlockKind.FIGURE: figure,
}


def statements_of(blocks: Sequence[Block], counter: TokenCounter) -> list[Statement]:
    """The statements of one paper in reading order. blocks: all blocks of the paper."""
    text = BLOCK_SEPARATOR.join(block.text for block in blocks)
    made: list[Statement] = []
    for placed in placed_blocks(blocks):
        of_block = _CUTS[placed.block.kind](placed)
        for first in of_block[:1]:
            between = text[made[-1].char_end : first.char_start] if made else ""
            of_block[0] = replace(first, gap=between if between.isspace() else BLOCK_SEPARATOR)
        made += of_block
    # one call for all: tokenizers count many texts faster than single ones
    counts = counter.count_all([one.gap + one.text for one in made])
    return [
        replace(one, number=number, n_tokens=max(1, n_tokens))
        for number, (one, n_tokens) in enumerate(zip(made, counts, strict=True))
    ]


def update_statements(
    published: RowsByPaper, blocks: RowsByPaper, counter: TokenCounter, spread: Spread
) -> PapersUpdate:
    """Bring the statements up to date with the blocks; see `update_each`.

    `published`: schema STATEMENTS. `blocks`: schema BLOCKS. A paper whose statements break a promise
    is quarantined.
    """
    versions = (counter.name, STATEMENTS_VERSION)
    work = partial(statements_of_paper, counter=counter)
    return update_each(published, blocks, lambda _: versions, work, spread)


def statements_of_paper(job: PaperJob, counter: TokenCounter) -> PaperOutcome:
    """Rows of schema STATEMENTS, made from the job's rows of schema BLOCKS."""

    def make(paper_rows: pa.Table) -> pa.Table:
        common = {
            "paper_id": job.paper_id,
            "file_path": job.file_path,
            "source": paper_rows["source"][0].as_py(),
            "fingerprint": job.fingerprint,
        }
        statements = statements_of(blocks_from(paper_rows), counter)
        return to_table(statement_rows(statements, common), STATEMENTS)

    def broken(made: pa.Table, paper_rows: pa.Table) -> list[str]:
        n_lost = sum(row["n_lost"] for row in letters_lost(made, paper_rows))
        return (
            [f"has {n_lost} characters in no statement, or in two (text_whole)"] if n_lost else []
        )

    return made_or_quarantined(job, make, broken)


def letters_lost(statements: pa.Table, blocks: pa.Table) -> Offenders:
    """Papers of whose blocks some characters are in no statement, or in two.

    statements, blocks: columns paper_id and n_chars of those tables.
    """
    in_statements = _chars_by_paper(statements)
    return [
        {"paper_id": paper, "n_lost": abs(n_chars - in_statements.get(paper, 0))}
        for paper, n_chars in _chars_by_paper(blocks).items()
        if n_chars != in_statements.get(paper, 0)
    ]


def _chars_by_paper(table: pa.Table) -> dict[str, int]:
    summed = table.group_by("paper_id").aggregate([("n_chars", "sum")])
    return dict(zip(summed["paper_id"].to_pylist(), summed["n_chars_sum"].to_pylist(), strict=True))


@dataclass(frozen=True)
class StatementsCandidate:
    """Statements before publication, and what they are checked against."""

    statements: pa.Table
    """Columns paper_id, number, n_chars, page_start, block."""
    blocks: pa.Table
    """Columns paper_id, ordinal, n_chars and page_start, without quarantined papers."""
    quarantined: Sequence[QuarantinedPaper]


def _repeated_numbers(candidate: StatementsCandidate) -> Offenders:
    counts = candidate.statements.group_by(["paper_id", "number"]).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts["count_all"], 1))
    return list(repeated.select(["paper_id", "number"]).to_pylist())


def _without_the_page_of_their_block(candidate: StatementsCandidate) -> Offenders:
    placed = candidate.blocks.filter(pc.is_valid(candidate.blocks["page_start"]))
    without = candidate.statements.filter(pc.is_null(candidate.statements["page_start"]))
    both = without.select(["paper_id", "number", "block"]).join(
        placed.select(["paper_id", "ordinal"]),
        keys=["paper_id", "block"],
        right_keys=["paper_id", "ordinal"],
        join_type="inner",
    )
    return list(both.select(["paper_id", "number"]).to_pylist())


STATEMENT_PROMISES: list[Promise[Any]] = [
    Promise(
        "text_whole",
        "Every letter of a paper's blocks is in one statement, and in one only.",
        lambda candidate: letters_lost(candidate.statements, candidate.blocks),
    ),
    Promise(
        "ids_unique",
        "Every statement of a paper has its own number.",
        _repeated_numbers,
    ),
    none_quarantined(
        "Every paper can be cut into statements. Each that cannot is listed with what it breaks; the others go on."
    ),
    Promise(
        "pages_kept",
        "A statement has a page where its block has one.",
        _without_the_page_of_their_block,
        "warning",
    ),
]
