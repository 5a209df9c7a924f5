"""The answers as the page of `qa` shows them."""

from pathlib import Path
from typing import Any

from rag_assets.answering.drafts import (
    REFUSAL,
    SINGLE_SOURCE_NOTE,
    DraftAnswer,
    DraftCitation,
    DraftClaim,
    kept_drafts,
)
from rag_assets.answering.records import AnswerUpdate
from rag_assets.answering.trace import AnswerTrace, Attempt
from rag_assets.answering.verify.verification import VerifiedClaims
from rag_assets.core.domain import Citation, Claim, QAResult
from rag_assets.core.incremental import UpdatePlan
from rag_assets.core.kept import kept_file
from rag_assets.core.settings import load_settings
from rag_assets.core.table_files import write_table
from rag_assets.core.tables import CHUNKS, chunk_row, to_table
from rag_assets.pipeline.assets.previews import MAX_MARKDOWN_CHARS, MOST_ROWS
from rag_assets.pipeline.assets.qa import AnsweredFile, answers_page
from rag_assets.questions.files import configured_set
from rag_assets_testing.citations import answer_of, cited
from rag_assets_tests.answering.builders import chunk

QUOTE = "Ferritin fell by 12% in all groups of runners. " * 20


def citation(quote: str) -> Citation:
    return cited(quote, page=3)


def result(id_: str, *claims: Claim, **changes: Any) -> QAResult:
    return answer_of(*claims, question_id=id_, question=f"Question {id_}?", **changes)


def test_every_answer_is_there_in_full_under_its_own_heading() -> None:
    """Half of them were cut off at 300 characters, and a quarter was missing."""
    claim = Claim(QUOTE.strip(), (citation(QUOTE.strip()),))

    page = answers_page([result(f"q{n}", claim) for n in range(40)])

    assert [line for line in page.splitlines() if line.startswith("###")] == [
        f"### Question q{n}? (q{n})" for n in range(40)
    ]
    assert page.count(QUOTE.strip()) == 40
    assert page.count("\\[smith2020, p. 3\\]") == 40


def test_refused_and_single_source_answers_are_marked() -> None:
    """Refused and single-source answers are looked at first, so they must be easy to find."""
    found = Claim("It fell.", (citation("Ferritin fell."),))

    refused = result("q1", missing_names=("Chinese",))
    page = answers_page([refused, result("q2", found, single_source=True, unanswered=("Why?",))])

    assert "### Question q1? (q1) — **refused**\n\n" + REFUSAL in page
    assert 'No passage that was found names "Chinese".' in page
    assert "### Question q2? (q2) — **single source**" in page
    assert "> “Ferritin fell.” \\[smith2020, p. 3\\]" in page, (
        "what a model wrote is shown with its quotes"
    )
    assert SINGLE_SOURCE_NOTE in page
    assert "Why?" in page


def test_what_is_too_much_for_a_page_is_left_out_by_whole_answers_and_said() -> None:
    """An answer that is cut in the middle may say something else."""
    short = [
        result(f"q{n}", Claim("It fell.", (citation("It fell."),))) for n in range(MOST_ROWS + 5)
    ]
    long = [
        result(f"q{n}", Claim("It fell." * 5000, (citation("It fell." * 5000),))) for n in range(9)
    ]

    page, long_page = answers_page(short), answers_page(long)

    assert page.count("###") == MOST_ROWS
    assert page.endswith("*5 more answers are in the file below.*")
    assert len(long_page) <= MAX_MARKDOWN_CHARS
    n_shown = long_page.count("###")
    assert long_page.count("It fell." * 5000) == n_shown
    assert long_page.endswith(f"*{9 - n_shown} more answers are in the file below.*")


def test_the_reply_of_a_published_answer_is_kept_whatever_it_cites(tmp_path: Path) -> None:
    """A model names a source that nobody has given it, and the same reply would be paid for each
    night."""
    settings = load_settings({"data_dir": str(tmp_path / "data")})
    settings.paths.cache.mkdir(parents=True)
    there = chunk("smith2020", "Ferritin fell in all groups.")
    write_table(to_table([chunk_row(there)], CHUNKS), settings.paths.chunks, {})
    sound, invented = (
        DraftAnswer((DraftClaim("It fell.", (DraftCitation(id_, there.text),)),))
        for id_ in (there.chunk_id, "gone:1")
    )
    drafts = kept_drafts(kept_file(settings))
    drafts.put_all({"sound": sound, "published": invented, "of a deleted paper": invented})
    answer = result("q1", Claim("It fell.", (citation(there.text),)))
    attempt = Attempt(6, (), "published", invented, False, VerifiedClaims(()))
    trace = AnswerTrace(answer, (attempt,), attempt)
    update = AnswerUpdate((answer,), (trace,), UpdatePlan(added=("q1",)))

    AnsweredFile(configured_set(settings), update, [], "inputs").publish(settings)

    assert drafts.keys() == {"sound", "published"}
