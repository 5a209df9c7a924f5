"""Every kind of judge: what it is asked, and that its verdicts are told in the same way."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from rag_assets.answering.drafts import DraftClaim
from rag_assets.answering.model.judges import (
    ClaimJudge,
    CrossEncoderJudge,
    JudgedSupport,
    open_judge,
)
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import ClaimOutcome, EmbeddedSupport, VerifiedClaims
from rag_assets.core.domain import Claim
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import load_settings
from rag_assets.hosted.connections import Connections
from rag_assets.search.reranking.cross_encoder import HubFiles
from rag_assets_testing.wire import Reply, WireRequest, WireServer, use_wire_environment
from rag_assets_tests.answering.builders import WordEncoder
from rag_assets_tests.hosted.models import HURRIED
from rag_assets_tests.search.reranking.small_cross_encoder import write_cross_encoder


def outcome(claim: str, quote: str) -> ClaimOutcome:
    return ClaimOutcome(
        DraftClaim(claim, ()), None, quotes=(QuotedText(quote, 0, len(quote), "Results"),)
    )


TOLD = outcome("Ferritin fell in\nall groups.", "Ferritin fell in all groups.")
INVENTED = outcome("Bridges carry heavy loads.", "Iron was not measured.")


def write_classifier(folder: Path, n_labels: int, id2label: dict[str, str]) -> Path:
    """The small cross-encoder, whose one logit is given to the last of its labels; the others have
    0."""
    write_cross_encoder(folder)
    model = onnx.load(str(folder / "model.onnx"))
    weights = np.zeros((1, n_labels), np.float32)
    weights[0, -1] = 1
    model.graph.initializer.append(numpy_helper.from_array(weights, "to_labels"))
    model.graph.node.append(helper.make_node("MatMul", ["logits", "to_labels"], ["by_label"]))
    del model.graph.output[:]
    model.graph.output.append(
        helper.make_tensor_value_info("by_label", TensorProto.FLOAT, ["n", n_labels])
    )
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "config.json").write_text(json.dumps({"id2label": id2label}))
    return folder


def replied(request: WireRequest) -> Reply:
    """A judge of its provider that supports what is said of ferritin."""
    verdicts = [
        {"statement": 2, "verdict": "not"},
        {"statement": 1, "verdict": "carried"},
    ]
    return Reply(json.dumps({"verdicts": verdicts}))


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    with WireServer("ollama", scripts_judge=True) as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(replied)
        yield server


@pytest.fixture(params=["ollama:llama3.2", "folder:"])
def judge(
    request: pytest.FixtureRequest, ollama: WireServer, tmp_path: Path
) -> Iterator[ClaimJudge]:
    named = request.param
    if named == "folder:":
        labels = {"0": "contradiction", "1": "neutral", "2": "ENTAILMENT"}
        named += str(write_classifier(tmp_path / "nli", 3, labels))
    with Connections(HURRIED) as connections:
        yield open_judge(named, load_settings({}), connections)


def test_a_judge_tells_what_is_said_from_what_is_not(judge: ClaimJudge) -> None:
    """A verdict on the wrong claim publishes what nobody wrote."""
    found = judge.verdicts([TOLD, INVENTED])

    told, invented = found.supports
    assert told is not None
    assert invented is not None
    assert told > 0.5 > invented
    assert len(found.whys) == 2
    assert found.seconds >= 0
    assert judge.identity == judge.identity != ""


@pytest.mark.parametrize(("n_labels", "labels"), [(1, {}), (2, {"0": "LABEL_0", "1": "LABEL_1"})])
def test_support_is_the_probability_of_one_output_or_of_the_second_of_two(
    n_labels: int, labels: dict[str, str], tmp_path: Path
) -> None:
    """The first of two would turn every verdict round."""
    folder = write_classifier(tmp_path / "nli", n_labels, labels)

    found = open_judge(f"folder:{folder}", load_settings({}), Connections(HURRIED)).verdicts(
        [TOLD, INVENTED]
    )

    told, invented = found.supports
    assert told is not None
    assert invented is not None
    assert told > 0.5 > invented


def test_a_judge_that_does_not_exist_is_told_with_those_that_do() -> None:
    """A typing mistake must not switch the second look off."""
    with pytest.raises(
        InvalidSettings, match="It is same, none, folder:PATH, fastembed:REPOSITORY, or a model"
    ):
        open_judge("acme:judge", load_settings({}), Connections(HURRIED))


def test_a_judge_whose_files_are_missing_leaves_the_rules_alone(tmp_path: Path) -> None:
    """An answer does not wait for its judge, and the hub may be out of reach."""
    judge = CrossEncoderJudge("fastembed:acme/nli", HubFiles("acme/nli", tmp_path, "or not."), 1)
    claim = Claim("It fell.", (), relevance=None)
    verified = VerifiedClaims((replace(TOLD, claim=claim),))

    found = JudgedSupport(
        judge, EmbeddedSupport(WordEncoder()), KeptFile(tmp_path / "kept.sqlite3")
    ).scores(verified, "?")

    assert "is not in" in found.unjudged
    assert "missing" in judge.identity
    assert [support.judged for support in found.supports] == [None]
