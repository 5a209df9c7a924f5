"""Questions drafted from the corpus, and the page that lists the metrics."""

import json
import re
from pathlib import Path

from rag_assets.core.settings import load_settings
from rag_assets.evaluation.examples import suggested
from rag_assets.evaluation.metrics import METRICS
from rag_assets.hosted.connections import Connections
from rag_assets_testing.wire import Reply, Wire
from rag_assets_testing.world import World
from rag_assets_tests.hosted.models import HURRIED


def test_a_model_drafts_questions_whose_passages_stand_in_the_papers(
    built: World, wire: Wire
) -> None:
    """An invented passage makes every right answer wrong."""
    settings = load_settings(
        {"data_dir": str(built.paths.data), "answering": {"model": "google:gemini-2.5-flash"}}
    )
    invented = {
        "question": "How far did iron fall?",
        "passage": "Iron fell by 99% in all groups.",
        "fact": "99%",
    }

    def answer(request: object) -> Reply:
        prompt = request.prompt  # type: ignore[attr-defined]
        text = prompt.partition("\n<<<")[2].partition("\n")[2]
        if "12%" not in text:
            return Reply(json.dumps(invented))
        sentence = next(part for part in text.split(". ") if "12%" in part)
        return Reply(
            json.dumps({"question": "By how much did it fall?", "passage": sentence, "fact": "12%"})
        )

    wire("google").answer_by(answer)
    with Connections(HURRIED) as connections:
        (drafted,) = suggested(settings, 5, connections)

    assert drafted.key_facts == (("12%",),)
    assert drafted.tags == ("generated", "by a model")
    assert drafted.expected[0].paper_id
    assert "12%" in drafted.expected[0].passages[0]


def test_without_a_model_headings_and_tables_are_asked_about(world: World) -> None:
    """Rough, and said to be; none of a section that every paper has ("Results")."""
    (world.paths.papers / "dogs.md").write_text(
        "# Patient dogs\n\n## Limitations\n\nOnly the dogs of one kennel were tested.\n"
    )
    assert world.run("parsed_index", "papers", "blocks", "statements", "chunks").is_success
    settings = load_settings({"data_dir": str(world.paths.data)})

    with Connections(HURRIED) as connections:
        (drafted,) = suggested(settings, 5, connections)

    assert drafted.question == "What are the limitations of “Patient dogs”?"
    assert (drafted.expected[0].paper_id, drafted.tags) == ("dogs", ("generated", "rough"))


def test_the_page_on_evaluation_lists_every_metric_with_its_floor() -> None:
    """A floor that is not told cannot be understood when it is missed."""
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text("utf-8")
    for metric in METRICS:
        floor = "" if metric.floor is None else f"{metric.floor:g}"
        assert re.search(
            rf"(?m)^\| `{metric.name}` \| {re.escape(metric.meaning)} \| [^|]+ \| {floor} \|$", page
        )
