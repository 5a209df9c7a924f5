"""Runs as tables: what each measured, and what one gains or loses against another."""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.quality.runs import Row, Run
from rag_assets.evaluation.runs import PairedDifference, difference, estimate

COLUMNS = {
    "covidqa": (
        "answer hit@1", "answer hit@5", "answer MRR@10", "answer nDCG@10", "answer in 1000", "answer in 3000",
        "answer in 6000", "document hit@1",
    ),
    "ohr": (
        "page hit@1", "page hit@5", "page MRR@10", "page nDCG@10", "page in 1000", "page in 3000", "page in 6000",
        "answer in 3000", "document hit@1",
    ),
    "financebench": (
        "document hit@1", "page hit@1", "page hit@5", "page hit@20", "page MRR@10", "page in 1000", "page in 3000",
        "page in 6000", "page in 10000",
    ),
    "cranfield": ("document hit@1", "document recall@10", "document MRR@10", "document nDCG@10"),
    "demo": ("document hit@1", "document recall@10", "document nDCG@10", "page hit@1", "page hit@5", "page in 3000"),
    "sentences": ("first", "any", "complete", "or near", "answered", "right paper", "right claims", "claims", "near"),
}  # fmt: skip
"""Measures that a table shows, by set."""
HALVES = ("all", "tuning", "checking")


def measured_tables(
    runs: Sequence[Run], sets: Sequence[str], halves: Sequence[str] = HALVES
) -> Iterator[str]:
    """For each set a row per run and half, on the questions that all of the runs were asked."""
    for name in sets:
        rows = {run.name: run.rows(name) for run in runs if name in run.sets}
        common = set.intersection(*(set(of_run) for of_run in rows.values())) if rows else set()
        if not common:
            continue
        columns = COLUMNS[name]
        yield f"\n### {name}: {len(common)} questions\n"
        yield "| | half | " + " | ".join(columns) + " | p50 / p95, ms | of CPU | index, s / CPU |"
        yield "|---|---|" + "---:|" * (len(columns) + 3)
        for run in runs:
            if run.name not in rows:
                continue
            asked = [row for id_, row in rows[run.name].items() if id_ in common]
            for half in halves:
                cells = [_cell(of_half(asked, half), column) for column in columns]
                times = [
                    milliseconds(asked, "clock"),
                    milliseconds(asked, "cpu"),
                    _index_time(run, name),
                ]
                times = times if half == "all" else ["", "", ""]
                yield f"| {run.name} | {half} | " + " | ".join([*cells, *times]) + " |"
    yield ""


def compared(new: Run, old: Run, n_shown: int) -> Iterator[str]:
    """Gains and losses of `new` against `old` by set, measure and half; then the questions that
    changed most."""
    for name in [one for one in COLUMNS if one in new.sets and one in old.sets]:
        pairs = paired(new.rows(name), old.rows(name))
        if not pairs:
            continue
        yield f"\n### {name}: {new.name} against {old.name}, {len(pairs)} questions\n"
        yield (
            "| | half | before | now | difference | 95 % interval | p | better / worse |\n|---|---|"
            + "---:|" * 6
        )
        for column in COLUMNS[name]:
            for half in HALVES:
                of_column = [
                    pair
                    for pair in pairs
                    if half in ("all", pair[0].half) and all(column in row.measures for row in pair)
                ]
                if of_column:
                    yield f"| {column} | {half} | {_compared(of_column, column)} |"
        for kind in ("clock", "cpu"):
            before, now = (milliseconds([pair[side] for pair in pairs], kind) for side in (1, 0))
            yield f"\np50 / p95, ms of {kind}: {before} -> {now}"
        yield from _changed_most(pairs, COLUMNS[name], n_shown)


def paired(new: dict[str, Row], old: dict[str, Row]) -> list[tuple[Row, Row]]:
    return [(row, old[id_]) for id_, row in new.items() if id_ in old]


def of_half(rows: Sequence[Row], half: str) -> list[Row]:
    return [row for row in rows if half in ("all", row.half)]


def milliseconds(rows: Sequence[Row], kind: str) -> str:
    """p50 / p95 of a question. kind: clock or cpu."""
    times = [1000 * row.seconds[kind] for row in rows if kind in row.seconds]
    return " / ".join(f"{one:.0f}" for one in np.quantile(times, [0.5, 0.95])) if times else ""


def _index_time(run: Run, set_name: str) -> str:
    """Seconds on the clock / of the processor; empty where the data folder began as a copy."""
    seconds = run.facts.get("sets", {}).get(set_name, {}).get("index_seconds")
    return f"{seconds['clock']:.0f} / {seconds['cpu']:.0f}" if isinstance(seconds, dict) else ""


def _cell(rows: Sequence[Row], column: str) -> str:
    values = [(row.measures[column], row.group) for row in rows if column in row.measures]
    if not values:
        return ""
    found = estimate(*zip(*values, strict=True))
    return f"{_short(found.mean)} ({_short(found.low)}-{_short(found.high)})"


def _compared(pairs: Sequence[tuple[Row, Row]], column: str) -> str:
    new, old = ([row.measures[column] for row in side] for side in zip(*pairs, strict=True))
    found = difference(new, old, [row.group for row, _ in pairs])
    return " | ".join(
        [
            _short(sum(old) / len(old)),
            _short(sum(new) / len(new)),
            _marked(found),
            f"{found.low:+.3f} to {found.high:+.3f}",
            f"{found.p:.3f}",
            f"{found.n_better} / {found.n_worse}",
        ]
    )


def _marked(found: PairedDifference) -> str:
    """The difference; bold where the interval leaves out 0."""
    return f"**{found.mean:+.3f}**" if found.low > 0 or found.high < 0 else f"{found.mean:+.3f}"


def _changed_most(
    pairs: Sequence[tuple[Row, Row]], columns: Sequence[str], n_shown: int
) -> Iterator[str]:
    deltas = {
        pair[0].id: sum(
            pair[0].measures.get(column, 0) - pair[1].measures.get(column, 0) for column in columns
        )
        for pair in pairs
    }
    by_id = {pair[0].id: pair for pair in pairs}
    ordered = sorted(deltas, key=lambda id_: deltas[id_])
    for title, ids in (("lost most", ordered[:n_shown]), ("gained most", ordered[::-1][:n_shown])):
        yield f"\n{title}:"
        for id_ in ids:
            if deltas[id_]:
                yield f"- {id_} ({by_id[id_][0].group}): {by_id[id_][0].question} {_changes(by_id[id_], columns)}"


def _changes(pair: tuple[Row, Row], columns: Sequence[str]) -> str:
    new, old = (row.measures for row in pair)
    changed = [column for column in columns if new.get(column) != old.get(column)]
    return "; ".join(
        f"{column} {old.get(column, 0):.2g} -> {new.get(column, 0):.2g}" for column in changed
    )


def _short(share: float) -> str:
    """.643 for shares below 1."""
    return f"{share:.3f}".removeprefix("0") if 0 <= share < 1 else f"{share:.3f}"
