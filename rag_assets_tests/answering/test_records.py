"""The files answers are kept in."""

import json
import logging
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest

from rag_assets.answering.drafts import DraftAnswer, DraftClaim, Reading
from rag_assets.answering.records import (
    QA_AUDIT,
    AuditedRun,
    DeferredQuestion,
    audit_row,
    left_row,
    read_results,
    write_results,
)
from rag_assets.answering.trace import AnswerTrace, Attempt
from rag_assets.answering.verify.objections import Objection, Reason
from rag_assets.answering.verify.verification import (
    ClaimOutcome,
    Scoring,
    VerifiedClaims,
)
from rag_assets.core.domain import Box, Claim, LeftOut, Usage
from rag_assets.questions import Question
from rag_assets_testing.citations import answer_of, cited

CITATION = cited("Ferritin “fell”", page=3, page_end=4, boxes=(Box(3, 0, 0, 1, 1),), start=7)
RESULT = answer_of(Claim("It fell.", (CITATION,)), question="Fall, or not?", contexts=("c",))
ATTEMPT = Attempt(
    6,
    (),
    "f",
    DraftAnswer(),
    False,
    VerifiedClaims((ClaimOutcome(DraftClaim("It fell.", ()), RESULT.claims[0]),)),
)
TRACE = AnswerTrace(RESULT, (ATTEMPT,), ATTEMPT, retry_k=10)
RUN = AuditedRun("2026-01-01T00:00:00+00:00", "r", "i", "questions/smoke.jsonl")


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    """The next run compares with what it reads here."""
    path = tmp_path / "qa.jsonl"

    write_results([RESULT], path)

    assert read_results(path) == [RESULT]
    assert read_results(tmp_path / "absent.jsonl") == []
    assert pd.read_json(path, lines=True)["question_id"].tolist() == ["q1"]


def test_answers_without_the_place_of_their_quotes_are_made_anew(tmp_path: Path) -> None:
    """A row that somebody edited would stop every later run."""
    path = tmp_path / "qa.jsonl"
    write_results([RESULT], path)
    row = json.loads(path.read_text("utf-8"))
    del row["claims"][0]["citations"][0]["start"]
    path.write_text(json.dumps(row) + "\n", "utf-8")

    assert read_results(path) == []


def test_line_separators_inside_a_quote_end_no_record(tmp_path: Path) -> None:
    """One such quote made every later run fail on its own output."""
    path = tmp_path / "qa.jsonl"
    odd = replace(RESULT, answer="one\u2028two\u0085three")

    write_results([odd, RESULT], path)

    assert read_results(path) == [odd, RESULT]


def test_damaged_answers_count_as_not_there(tmp_path: Path) -> None:
    """They are written anew; an error here would stop every later run."""
    path = tmp_path / "qa.jsonl"
    path.write_text('{"question_id": "q1", "ques')

    assert read_results(path) == []


def test_the_audit_says_what_an_answer_cost_this_time_and_how_it_was_read() -> None:
    """Whoever adds up the audit must get what was paid: nothing for a draft from the cache, and the
    judge's part."""
    paid_before = Usage(1, 1000, 50, 0.005)
    cached = DraftAnswer(
        seconds=1.25, n_hallucinated=2, reading=Reading.STRUCTURED, usage=paid_before
    )
    made = DraftAnswer(
        seconds=2.5, n_hallucinated=1, reading=Reading.REPAIRED, usage=Usage(2, 1400, 70, 0.010)
    )
    mended = ClaimOutcome(DraftClaim("It fell.", (), mends=2), RESULT.claims[0], n_lost=2)
    wrong = ClaimOutcome(
        DraftClaim("It fell by 99%.", ()),
        None,
        Objection(Reason.NUMBER_MISSING, "99% is not there"),
    )
    result = replace(RESULT, left_out=(LeftOut("It fell by 99%.", "99% is not there"),))
    scoring = Scoring(usage=Usage(1, 100, 10, 0.001), seconds=0.5)
    first = replace(ATTEMPT, fingerprint="first", draft=cached, is_cached=True)
    final = replace(ATTEMPT, scoring=scoring, draft=made, verified=VerifiedClaims((mended, wrong)))
    trace = replace(TRACE, result=result, attempts=(first, final), final=final)

    row = audit_row(trace, RUN, verdict="published")

    assert (row["n_requests"], row["n_input_tokens"], row["n_output_tokens"]) == (3, 1500, 80)
    assert (row["cost_usd"], row["model_seconds"], row["n_cached_drafts"]) == (
        pytest.approx(0.011),
        3.0,
        1,
    )
    assert row["reading"] == "repaired"
    assert (row["n_hallucinated_citations"], row["n_dropped_citations"]) == (3, 2)
    assert (row["n_left_out_claims"], row["n_mended_claims"]) == (1, 1)
    assert json.loads(str(row["left_out"])) == [
        asdict(LeftOut("It fell by 99%.", "99% is not there"))
    ]


def test_the_audit_tells_the_papers_of_the_first_answer_from_those_of_the_last() -> None:
    """Whoever looks what a second search brings sees it from these two columns."""
    second = Claim("It fell.", (CITATION, replace(CITATION, paper_id="jones2021")))
    result = replace(RESULT, claims=(second,), sources_used=("smith2020", "jones2021"))
    final = replace(
        ATTEMPT, verified=VerifiedClaims((ClaimOutcome(DraftClaim("It fell.", ()), second),))
    )

    row = audit_row(
        replace(TRACE, result=result, attempts=(ATTEMPT, final), final=final),
        RUN,
        verdict="published",
    )

    assert (row["sources_used_initial"], row["final_sources_used"]) == (1, 2)


def test_a_left_question_is_no_refusal(tmp_path: Path) -> None:
    """Nobody looked for its answer: counted as a refusal it would speak against the corpus."""
    path = tmp_path / "qa_audit.csv"
    left = DeferredQuestion(
        Question(id="q1", question="Fall, or not?"), "The run has spent its budget."
    )

    QA_AUDIT.append(path, [left_row(left, RUN)])

    [row] = pd.read_csv(path).to_dict("records")
    assert (row["question_id"], row["outcome"], row["verdict"]) == (
        "q1",
        "left",
        "The run has spent its budget.",
    )


def test_a_file_that_is_no_audit_of_ours_is_set_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody's table under that name must neither be lost nor stop every later run."""
    path = tmp_path / "qa_audit.csv"
    path.write_text("sample,weight\n1,2.5\n")
    row = audit_row(TRACE, RUN, verdict="published")

    with caplog.at_level(logging.WARNING):
        QA_AUDIT.append(path, [row])

    [aside] = [other for other in tmp_path.iterdir() if other != path]
    assert aside.read_text() == "sample,weight\n1,2.5\n"
    assert pd.read_csv(path)["question_id"].tolist() == ["q1"]
    assert str(aside) in caplog.text


def test_a_row_that_a_killed_run_wrote_already_is_not_repeated(tmp_path: Path) -> None:
    """The audit counts guardrail events; a crash must not double them."""
    path = tmp_path / "qa_audit.csv"
    row = audit_row(TRACE, RUN, verdict="published")
    QA_AUDIT.append(path, [row])

    QA_AUDIT.append(path, [row | {"timestamp": "later", "run_id": "next"}])
    QA_AUDIT.append(path, [row | {"verdict": "withheld"}])

    assert pd.read_csv(path)["verdict"].tolist() == ["published", "withheld"]
