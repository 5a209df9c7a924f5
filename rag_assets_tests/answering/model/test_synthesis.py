"""The paragraph above an answer: what of it is shown, and what it costs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.answering.model.judges import ClaimJudge, JudgedSupport
from rag_assets.answering.model.synthesis import Synthesis
from rag_assets.answering.opening import open_synthesis
from rag_assets.answering.trace import Lead
from rag_assets.answering.verify.verification import EmbeddedSupport
from rag_assets.core.domain import Claim, LeadSentence
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import load_settings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets_testing.citations import cited
from rag_assets_testing.wire import BadKey, Status, Step, Wire, WireServer
from rag_assets_testing.wire.quoting_model import lead, verdicts
from rag_assets_tests.answering.builders import WordEncoder
from rag_assets_tests.hosted.models import HURRIED

MODEL = ModelName("google", "gemini-2.5-flash")
CLAIMS = [
    Claim(text, (cited(text, paper, cited_as=name),))
    for text, paper, name in (
        ("Ferritin fell by 12% in runners.", "lund", "Lund (2019)"),
        ("Ferritin fell by 3% in swimmers.", "moe", "Moe (2021)"),
    )
]
GOOD = "In both trials ferritin fell, by 12% in runners and by 3% in swimmers."


@pytest.fixture
def server(request: pytest.FixtureRequest, wire: Wire) -> WireServer:
    return wire("google", scripts_judge=getattr(request, "param", False))


@pytest.fixture
def synthesis(server: WireServer, tmp_path: Path) -> Iterator[Synthesis]:
    kept = KeptFile(tmp_path / "kept.sqlite3")
    with Connections(HURRIED) as connections:
        judge = ClaimJudge(MODEL, connections)
        scorer = JudgedSupport(judge, EmbeddedSupport(WordEncoder()), kept)
        yield Synthesis(MODEL, connections, scorer, kept)


@pytest.mark.parametrize("server", [True], indirect=True, ids=["scripted judge"])
def test_what_the_claims_do_not_say_is_cut(server: WireServer, synthesis: Synthesis) -> None:
    """The paragraph is read first: one invented sentence in it would stand above all that was
    proven."""
    server.lead_by = lambda _request: lead(
        (GOOD, [1, 2]),
        ("Ferritin fell more in swimmers than in runners.", [1, 2]),
        ("Ferritin fell by 15% in runners.", [1]),
        ("Iron tablets prevent the loss that endurance sport brings about.", [1]),
        ("Ferritin fell in runners.", []),
        ("Ferritin fell in swimmers.", [3]),
    )
    server.answer_with(verdicts((1, "carried"), (2, "not")))

    made = synthesis.lead("How far did ferritin fall?", (), CLAIMS)

    assert made.sentences == (LeadSentence(GOOD, (1, 2)),)
    [judged] = server.requests
    assert "Statement 2" in judged.prompt
    assert "Statement 3" not in judged.prompt, "what the rules cut is not judged"


def test_a_paragraph_is_paid_for_once(server: WireServer, synthesis: Synthesis) -> None:
    """The answer tells its cost; the second run must not spend it again."""
    server.lead_by = lambda _request: lead((GOOD, [1, 2]))

    first, again = (synthesis.lead("How far?", (), CLAIMS) for _ in range(2))
    alone = synthesis.lead("How far?", (), CLAIMS[:1])

    assert (again.sentences, again.usage) == (first.sentences, first.usage)
    assert (first.spent.n_requests, again.spent.n_requests) == (2, 0)
    assert (len(server.led), alone) == (1, Lead()), "a single claim is its own lead"


@pytest.mark.parametrize("fault", [BadKey(), Status(400)])
def test_an_answer_stands_without_its_paragraph(
    fault: Step, server: WireServer, synthesis: Synthesis
) -> None:
    """What was verified would be lost for a summary of it."""
    server.lead_by = lambda _request: fault

    assert synthesis.lead("How far?", (), CLAIMS) == Lead()


@pytest.mark.parametrize(
    "answering",
    [{"synthesis": False}, {"judge": {"model": "none"}}, {"model": "extractive"}],
)
def test_nothing_is_written_above_claims_where_nobody_would_judge_it(
    answering: dict[str, object], wire: Wire
) -> None:
    """Rules do not see that a comparison is the wrong way round."""
    wire("google")
    with Connections(HURRIED) as connections:
        settings = load_settings({"answering": {"model": str(MODEL)} | answering})

        assert open_synthesis(settings, EmbeddedSupport(WordEncoder()), connections) is None
