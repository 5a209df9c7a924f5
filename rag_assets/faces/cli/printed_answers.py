"""How answers are printed: each claim with its quotes and places, and what else must be known."""

from collections.abc import Mapping

from rich.console import Console

from rag_assets.answering.drafts import EXTRACTIVE
from rag_assets.answering.wording import Shown, claim_note, nearest_heading, notes_of, place_of
from rag_assets.core.domain import Citation, Claim, QAResult, cost_words
from rag_assets.core.text.display import legible
from rag_assets.faces.cli.rendering import out, print_heading, print_indented
from rag_assets.questions.conversations import Rewritten

_NOT_WRITTEN = (
    "These are sentences found in the papers, not a written answer; set answering.model for one."
)


def print_answers(shown: Shown, titles: Mapping[str, str]) -> None:
    """Answers below their questions, if there are any."""
    for result in shown.results:
        print_heading(f"{result.question_id}  {result.question}")
        _print_answer(result, titles)
    _print_end(shown)


def print_answer(shown: Shown, titles: Mapping[str, str]) -> None:
    """One answer: each claim once with its quotes and places, then what else must be known.

    titles: titles of papers by id. A quote that stands in its claim, as in an extractive one, is
    not shown again.
    """
    _print_answer(shown.results[0], titles)
    _print_end(shown)


def print_turn(question: str, asked: Rewritten, shown: Shown, titles: Mapping[str, str]) -> None:
    """An answer of a conversation, below how its question was read where that needs to be said."""
    if asked.is_rewritten:
        words = "" if asked.question == question else f"Asked of the papers as: {asked.question} "
        print_indented(f"{words}({asked.reason})\n")
    _print_answer(shown.results[0], titles)
    _print_references(shown)


def _print_answer(result: QAResult, titles: Mapping[str, str]) -> None:
    console = out()
    if not result.claims:
        console.print(legible(result.answer))
    _print_lead(console, result)
    for number, claim in enumerate(result.claims, start=1):
        _print_claim(console, claim, titles, number if result.lead else None)
    cost = cost_words(result.usage)
    notes = [*notes_of(result), *([f"Cost: {cost}."] if cost else [])]
    for remark in notes:
        console.print(legible(f"  {remark}" if not result.claims else remark))
    if result.nearest:
        if notes or not result.claims:
            console.print()
        console.print(nearest_heading(result))
    for claim in result.nearest:
        print_indented(claim.text, 2)
        for citation in claim.citations:
            _print_source(citation, titles)


def _print_lead(console: Console, result: QAResult) -> None:
    for sentence in result.lead:
        numbers = ", ".join(map(str, sentence.claims))
        console.print(legible(f"{sentence.text} ({numbers})"))
    if result.lead:
        console.print()


def _print_references(shown: Shown) -> None:
    for number, entry in enumerate(shown.references):
        print_indented(entry if number else f"\nReferences\n{entry}", 2)


def _print_end(shown: Shown) -> None:
    """The references, then once that no model wrote the answers, where that is so."""
    _print_references(shown)
    if any(result.model.startswith(EXTRACTIVE) and result.claims for result in shown.results):
        out().print(f"\n{_NOT_WRITTEN}")


def _print_claim(
    console: Console, claim: Claim, titles: Mapping[str, str], number: int | None
) -> None:
    """number: the one that the lead points to; None where no lead does."""
    console.print(legible(claim.text if number is None else f"({number}) {claim.text}"))
    if note := claim_note(claim):
        print_indented(note)
    for citation in claim.citations:
        if citation.quote not in claim.text:
            print_indented(f"“{citation.quote}”")
        _print_source(citation, titles)
    console.print()


def _print_source(citation: Citation, titles: Mapping[str, str]) -> None:
    """ "Reciprocal rank fusion, Lund & Moe (2019), p. 2 [rank_fusion]"; without what is not
    known."""
    title = titles.get(citation.paper_id, "").strip()
    place = place_of(citation).removeprefix(citation.paper_id).lstrip(", ")
    between = " " if place.startswith(("(", "[")) else ", "
    print_indented(between.join(filter(None, (title, place))), paper_id=citation.paper_id)
