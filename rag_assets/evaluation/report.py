"""The report of one run, or of two compared, as one HTML file without links to anything: to send to a colleague."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from rag_assets.answering.wording import place_of
from rag_assets.core.domain.spans import page_words
from rag_assets.evaluation.cases import Case
from rag_assets.evaluation.comparison import (
    Compared,
    Summary,
    changed_questions,
    changed_settings,
    compared,
    summaries,
    unmeasured,
)
from rag_assets.evaluation.metrics import RIGHT, floors, slices
from rag_assets.evaluation.runs import Run
from rag_assets.evaluation.statistics import Estimate
from rag_assets.evaluation.verdicts import expected_of, problem_of

_WIDTH, _ROW = 360, 22
"""Pixels of a plot, and of each of its rows."""
_MOST_CONTEXT_CHARS = 3000
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1c2330 }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 } th { text-align: left; font-weight: 600 }
td, th { padding: .3rem .6rem; border-bottom: 1px solid #e3e6ec; vertical-align: top } .n { text-align: right }
details { border: 1px solid #e3e6ec; border-radius: 6px; margin: .6rem 0; padding: .5rem .9rem }
summary { cursor: pointer } blockquote { margin: .4rem 0; padding-left: .8rem; border-left: 3px solid #b9c3d6 }
.bad { color: #a3271d } .good { color: #1d6b3a } .quiet { color: #667085; font-size: .9em }
td:nth-child(2) { white-space: nowrap } .wide { overflow-x: auto }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 1.2rem } pre { white-space: pre-wrap; font-size: .85em }
"""


def run_report(run: Run) -> str:
    """The figures of a run with their intervals and floors, then every question, wrong ones first."""
    wanted = floors(run.header.settings["evaluation"]["floors"])
    found = summaries(run)
    values = run.values()
    rows = [(case.question.tags, values[key]) for key, case in run.cases.items()]
    order = sorted(run.cases.values(), key=lambda case: not problem_of(case))
    parts = [
        f"<p>{_wrongs(run)}</p>",
        _table(
            ["metric", "mean, 95 % interval", "", "floor", "questions"],
            [_summary_row(one, wanted.get(one.metric.name)) for one in found],
        ),
        f'<p class="quiet">{unmeasured(found)}</p>',
        *_slices(slices(rows), [one.metric.name for one in found if one.metric != RIGHT]),
        "<h2>Questions</h2>",
        *(_question(case) for case in order),
    ]
    return _page(run.header.name, run, parts)


def comparison_report(before: Run, now: Run) -> str:
    """The differences with intervals and p-values, then each question that changed, with both answers.

    Raises InvalidSettings where `compared` does.
    """
    changed = changed_questions(before, now)
    parts = [
        f"<p>{len(before.cases)} questions over the same corpus: “{escape(before.header.name)}” against "
        f"“{escape(now.header.name)}”.</p>",
        _table(
            ["what differs", "before", "now"],
            [[*map(escape, row)] for row in changed_settings(before, now) or [("nothing", "", "")]],
        ),
        _table(
            ["metric", "before", "now", "difference, 95 % interval", "", "better, worse", "p"],
            [_compared_row(one) for one in compared(before, now)],
        ),
        '<p class="quiet">p: exact McNemar test where a question is right or wrong, else random exchanges of the two '
        "runs. Many metrics are tested at once: one p below 0.05 among twenty is expected by chance.</p>",
        f"<h2>{len(changed)} questions changed</h2>",
        *(_changed(before.cases[key], now.cases[key], gains) for key, gains in changed),
    ]
    return _page(f"{before.header.name} → {now.header.name}", now, parts)


def _page(title: str, run: Run, parts: Iterable[str]) -> str:
    models = ", ".join(sorted({case.result.model for case in run.cases.values()}))
    facts = _table(
        ["", ""],
        [
            ["answers by", escape(models)],
            ["judge", escape(str(run.header.settings["evaluation"]["judge"]))],
            ["corpus", escape(run.header.corpus)],
            ["questions", f"{len(run.cases)} of {run.header.n_questions}"],
        ],
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
    )
    body = "\n".join([f"<h1>{escape(title)}</h1>", *parts, "<h2>How it was asked</h2>", facts])
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _wrongs(run: Run) -> str:
    labelled = [case for case in run.cases.values() if case.question.is_labelled]
    wrong = sum(bool(problem_of(case)) for case in labelled)
    abstained = sum(case.verdict.abstained for case in run.cases.values() if case.verdict)
    judge = f" The judge could not tell {abstained} times." if abstained else ""
    return f"{len(labelled) - wrong} of {len(labelled)} labelled questions are answered as expected.{judge}"


def _summary_row(one: Summary, floor: float | None) -> list[str]:
    told, misses = one.told, one.metric.misses(one.told.mean, floor)
    return [
        f'{escape(one.metric.name)}<br><span class="quiet">{escape(one.metric.meaning)}</span>',
        f'<span class="{"bad" if misses else ""}">{told.mean:.3f}</span> '
        f'<span class="quiet">{told.low:.3f} – {told.high:.3f}</span>',
        _bar(told, floor, misses=misses),
        "" if floor is None else f"{floor:g}",
        str(told.n),
    ]


def _compared_row(one: Compared) -> list[str]:
    change = one.change
    return [
        escape(one.metric.name),
        f"{one.before:.3f}",
        f"{one.now:.3f}",
        f'{change.mean:+.3f} <span class="quiet">{change.low:+.3f} – {change.high:+.3f}</span>',
        _interval(one),
        f"{change.n_better}, {change.n_worse}" if one.metric.direction == "higher" else "",
        f"{one.p:.3f}",
    ]


def _bar(one: Estimate, floor: float | None, *, misses: bool) -> str:
    """The mean as a bar, its interval as a line, the floor as a mark; on a scale from 0 to 1, or to the largest."""
    scale = (_WIDTH / 2) / max(1.0, one.high, floor or 0.0)
    colour = "#d98880" if misses else "#8fb3de"
    mark = "" if floor is None else _line(floor * scale, 2, floor * scale, _ROW - 2, "#a3271d", 2)
    return _svg(
        f'<rect x="0" y="5" width="{one.mean * scale:.1f}" height="{_ROW - 10}" fill="{colour}"/>'
        + _line(one.low * scale, _ROW / 2, one.high * scale, _ROW / 2, "#1c2330", 1.5)
        + mark
    )


def _interval(one: Compared) -> str:
    """The difference as a dot on its interval; the middle is no difference."""
    reach = max(abs(one.change.low), abs(one.change.high), 1e-9)
    scale = (_WIDTH / 4 - 4) / max(reach, 0.1)
    low, middle, high = (_WIDTH / 4 + value * scale for value in (one.change.low, one.change.mean, one.change.high))
    return _svg(
        _line(_WIDTH / 4, 0, _WIDTH / 4, _ROW, "#b9c3d6", 1)
        + _line(low, _ROW / 2, high, _ROW / 2, "#1c2330", 1.5)
        + f'<circle cx="{middle:.1f}" cy="{_ROW / 2}" r="4" fill="#2f5f9e"/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" stroke="{colour}" stroke-width="{width}"/>'


def _svg(content: str) -> str:
    return f'<svg width="{_WIDTH // 2}" height="{_ROW}" role="img">{content}</svg>'


def _slices(found: dict[str, dict[str, Any]], metrics: Sequence[str]) -> list[str]:
    if not found:
        return []
    heads = [f'{escape(tag)} <span class="quiet">{one["n"]} questions</span>' for tag, one in found.items()]
    rows = [
        [escape(name), *("" if one[name] is None else f"{one[name]:.3f}" for one in found.values())] for name in metrics
    ]
    return ["<h2>Slices</h2>", _table(["metric", *heads], rows)]


def _question(case: Case) -> str:
    problem = problem_of(case)
    mark = f'<span class="bad">{escape(problem)}</span>' if problem else '<span class="good">right</span>'
    contexts = "".join(
        f"<h4>{escape(one.paper_id)} {page_words(one.page_start, one.page_end, None)}</h4>"
        f"<pre>{escape(one.text[:_MOST_CONTEXT_CHARS])}</pre>"
        for one in case.contexts
    )
    return (
        f"<details{' open' if problem else ''}><summary><b>{escape(case.question.question)}</b> {mark}</summary>"
        f"{_expected(case)}{_answer(case)}"
        f"<details><summary>{len(case.contexts)} contexts</summary>{contexts}</details></details>"
    )


def _changed(before: Case, now: Case, gains: Any) -> str:
    told = ", ".join(f"{name} {gain:+.2f}" for name, gain in gains.items()) or "other words, same figures"
    gained = sum(gains.values())
    colour = "bad" if gained < 0 else "good" if gained else "quiet"
    return (
        f'<details open><summary><b>{escape(now.question.question)}</b> <span class="{colour}">{escape(told)}</span>'
        f"</summary>{_expected(now)}<div class=two><div><h4>Before</h4>{_answer(before)}</div>"
        f"<div><h4>Now</h4>{_answer(now)}</div></div></details>"
    )


def _expected(case: Case) -> str:
    return f'<p class="quiet">Expected: {escape(expected_of(case.question)) or "not said"}</p>'


def _answer(case: Case) -> str:
    if not case.result.claims:
        return f"<p>{escape(case.result.answer)}</p>"
    return "".join(
        f"<p>{escape(claim.text)}</p>"
        + "".join(
            f"<blockquote>{'' if one.quote == claim.text else escape(one.quote)} "
            f"<span class=quiet>[{escape(place_of(one))}]</span></blockquote>"
            for one in claim.citations
        )
        for claim in case.result.claims
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    heads = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{heads}</tr>{body}</table></div>'
