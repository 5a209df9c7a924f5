"""Judges of claims compared with the labels of people."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.judges import LabelledClaim, agreements, open_judges
from rag_assets.core.settings import load_settings
from rag_assets.hosted.connections import Connections
from rag_assets_testing.wire import Reply, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_tests.hosted.models import HURRIED

QUOTE = "The customary constant k is 60, chosen in a pilot."


def labelled(claim: str, *, carried: bool, quotes: Sequence[str] = (QUOTE,)) -> LabelledClaim:
    return LabelledClaim(question="Which k?", claim=claim, quotes=tuple(quotes), carried=carried)


CLAIMS = [
    labelled("The customary k is 60.", carried=True),
    labelled("A pilot chose 60 for k.", carried=True),
    labelled("The customary k is 61.", carried=False),
    labelled("Every pilot since has chosen 60 for k.", carried=False),
]


def test_agreement_is_counted_against_the_labels_and_against_chance() -> None:
    """A judge that says yes to everything agrees with half of a balanced set, and its kappa is
    0."""
    opinions = {
        one.claim: verdict for one, verdict in zip(CLAIMS, (True, False, None, True), strict=True)
    }

    yes, mixed = agreements(
        CLAIMS, [("yes", lambda _: True), ("mixed", lambda one: opinions[one.claim])]
    )

    assert (yes.agreement.mean, yes.kappa, yes.n_wrong_passed, yes.n_right_lost, yes.n_untold) == (
        0.5,
        0.0,
        2,
        0,
        0,
    )
    assert (mixed.agreement.n, mixed.n_wrong_passed, mixed.n_right_lost, mixed.n_untold) == (
        3,
        1,
        1,
        1,
    )
    assert mixed.agreement.mean == pytest.approx(1 / 3)
    assert mixed.kappa == pytest.approx((1 / 3 - 5 / 9) / (4 / 9))


def test_rules_second_look_and_judge_are_asked_about_the_same_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sees the claim and its quotes; the rules find the wrong number and nothing else."""

    def told(request: WireRequest) -> Reply:
        if "Statements of the answer" in request.prompt:
            return Reply(json.dumps({"statements": [{"number": 1, "told": "no"}]}))
        return Reply(
            json.dumps({"verdicts": [{"statement": 1, "verdict": "partly", "wrong": "more"}]})
        )

    with WireServer("google", scripts_judge=True) as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(told)
        models = {"answering": {"judge": {"model": "google:gemini-2.5-pro"}}}
        settings = load_settings(
            {
                "data_dir": str(tmp_path),
                **models,
                "evaluation": {"judge": "google:gemini-2.5-flash"},
            }
        )
        with Connections(HURRIED) as connections:
            rules, second, judge = agreements(CLAIMS, open_judges(settings, connections))

        assert (rules.judge, rules.n_wrong_passed, rules.n_right_lost) == ("rules", 1, 0)
        assert second.judge == "second look by google:gemini-2.5-pro"
        assert judge.judge == "google:gemini-2.5-flash"
        assert (second.n_right_lost, judge.n_right_lost, judge.n_untold) == (2, 2, 0)
        assert len(server.requests) == 2 * len(CLAIMS)
        assert all(QUOTE in one.prompt for one in server.requests)
