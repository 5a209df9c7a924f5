"""A second model's opinion of the claims: recorded, asked for once, and never a reason to drop anything."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_assets.answering.evidence.support import EmbeddedSupport, SupportScorer
from rag_assets.answering.judge import open_judge
from rag_assets.hosted.access import ModelName, require_access
from rag_assets.hosted.budget import RunBudget
from rag_assets.hosted.connection import open_connection
from rag_assets.model import Citation, Claim, Verification
from rag_assets_tests.answering.builders import WordEncoder
from rag_assets_tests.hosted.models import HURRIED
from rag_assets_tests.wire import Reply, WireServer, use_wire_environment


def claim(text: str, quote: str) -> Claim:
    return Claim(text, (Citation("smith2020", "smith2020:1", 1, 1, quote, (), Verification.EXACT),))


CLAIMS = [
    claim("Ferritin fell.", "Ferritin fell in all groups."),
    claim("Iron rose.", "Iron was not measured in this trial."),
]


@contextmanager
def judging(server: WireServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SupportScorer]:
    use_wire_environment(monkeypatch, server)
    with open_connection(require_access("google"), HURRIED, RunBudget(HURRIED)) as connection:
        name = ModelName("google", "gemini-2.5-flash")
        yield open_judge(name, connection, EmbeddedSupport(WordEncoder()), folder)


def verdicts(*pairs: tuple[int, float]) -> Reply:
    return Reply(json.dumps({"verdicts": [{"statement": number, "support": value} for number, value in pairs]}))


def test_verdicts_stand_beside_the_embedded_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded score must stay comparable between runs with and without a judge."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        server.answer_with(verdicts((2, 0.0), (1, 1.0)))

        found = judge.scores(CLAIMS, "Did ferritin fall?")

    embedded = EmbeddedSupport(WordEncoder()).scores(CLAIMS, "Did ferritin fall?")
    assert [support.judged for support in found] == [1.0, 0.0]
    assert [support.score for support in found] == [support.score for support in embedded]
    assert "Statement 2: Iron rose." in server.requests[0].prompt
    assert "- Iron was not measured in this trial." in server.requests[0].prompt


def test_nothing_is_judged_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nightly run on an unchanged corpus must cost nothing."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        server.answer_with(verdicts((1, 0.8), (2, 0.1)))

        first, second = judge.scores(CLAIMS, "Q?"), judge.scores(CLAIMS, "Q?")

    assert first == second
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (verdicts((1, 0.5)), [0.5, None]),
        (verdicts((1, 0.5), (7, 0.9)), [0.5, None]),
        (Reply("They look fine to me."), [None, None]),
        (Reply('{"verdicts": [{"statement": 1, "support": 7}]}'), [None, None]),
    ],
    ids=["one passed over", "a statement that was not asked about", "prose", "out of bounds"],
)
def test_an_odd_verdict_is_no_verdict(
    reply: Reply, expected: list[float | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge is a model, too."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        server.answer_with(reply, reply)

        assert [support.judged for support in judge.scores(CLAIMS, "Q?")] == expected


@pytest.mark.parametrize("damage", [lambda path: path.write_text("{"), lambda path: path.unlink()])
def test_a_damaged_verdict_is_asked_for_again(
    damage: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut must not silence the judge for ever."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        server.answer_by(lambda _request: verdicts((1, 0.8), (2, 0.1)))
        judge.scores(CLAIMS, "Q?")
        [path] = tmp_path.glob("*.json")
        damage(path)

        assert [support.judged for support in judge.scores(CLAIMS, "Q?")] == [0.8, 0.1]


def test_without_claims_nobody_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals are free."""
    with WireServer("google") as server, judging(server, tmp_path, monkeypatch) as judge:
        assert judge.scores([], "Q?") == []

    assert server.requests == []
