"""Which models answers are made by: refused before any work, and recognised when anything about
them changes."""

from typing import Any

import pytest

from rag_assets.answering.opening import require_models
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import load_settings
from rag_assets.engine import open_engine
from rag_assets_testing.wire import use_wire_environment

WRITER, JUDGE = "openai:gpt-5-mini", "google:gemini-2.5-flash"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys for the providers' own addresses; nothing is sent."""
    use_wire_environment(monkeypatch)
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "k")


@pytest.mark.parametrize("is_judge", [False, True])
def test_a_budget_in_money_needs_a_price_for_every_model_that_is_asked(is_judge: bool) -> None:
    """A limit that nobody can count towards is found out from the invoice."""
    access = {"budget_usd": 1.0}
    unpriced, priced = (
        {"answering": {"model": WRITER, "judge": model} if is_judge else model}
        for model in ({"model": "openai:acme-large"}, {"model": WRITER})
    )

    require_models(load_settings({"model_access": access, **priced}))
    require_models(load_settings(unpriced))
    with pytest.raises(
        InvalidSettings, match=r"budget_usd is set, but the price of openai:acme-large is not known"
    ):
        require_models(load_settings({"model_access": access, **unpriced}))


def fingerprint_of(**overrides: Any) -> str:
    return open_engine(load_settings(overrides)).method_version()


def test_whatever_an_answer_follows_from_makes_it_another_answer() -> None:
    """What is missing here is published for ever: the settings say one thing, the answers
    another."""
    found = [
        fingerprint_of(),
        fingerprint_of(retrieval={"budget_tokens": 2000}),
        fingerprint_of(retrieval={"dense_weight": 0.5}),
        fingerprint_of(answering={"k": 5}),
        fingerprint_of(answering={"model": WRITER}),
        fingerprint_of(answering={"model": "openai:gpt-5"}),
        fingerprint_of(answering={"model": WRITER, "judge": {"model": JUDGE}}),
        fingerprint_of(answering={"model": WRITER, "judge": {"model": "none"}}),
        fingerprint_of(answering={"extractive": {"max_claims": 2}}),
        fingerprint_of(embedding={"model": "local:all-MiniLM-L6-v2"}),
    ]

    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"model_access": {"budget_requests": 5}}),
        ({}, {"execution": {"workers": 1}}),
        (
            {"answering": {"model": WRITER}},
            {"answering": {"model": WRITER, "extractive": {"max_claims": 3}}},
        ),
    ],
    ids=["a budget", "a worker", "the sentences of another answerer"],
)
def test_what_no_answer_follows_from_makes_none_anew(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Raising a budget must not send the whole question file through the model again."""
    assert fingerprint_of(**before) == fingerprint_of(**after)
