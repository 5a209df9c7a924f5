"""Asset `examples`: questions that the corpus can answer, and what it is about, for the page that
asks."""

from typing import Any

import dagster as dg

from rag_assets.core.incremental import fingerprint, read_sealed
from rag_assets.core.settings import Settings
from rag_assets.core.text.display import markdown_text
from rag_assets.engine import CODE_VERSION, open_engine
from rag_assets.evaluation.examples import (
    EXAMPLES_VERSION,
    answered_examples,
    drafted_questions,
    keyless,
    sampled_chunks,
    topics_of,
)
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.index import ASKED
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    checked_asset,
    sealed_file,
)


@checked_asset("index", deps=ASKED, kinds={"json"}, version=f"{EXAMPLES_VERSION}, {CODE_VERSION}")
def examples(
    settings: dg.ResourceParam[Settings], models: dg.ResourceParam[Connections]
) -> Outcome:
    """Questions of headings and tables that were asked and are answered, and topics of the titles;
    `data/cache/examples.json`. No model is asked to write or judge."""
    asked, path = keyless(settings), settings.paths.examples
    with open_engine(asked, models) as engine:

        def follows_from() -> list[Any]:
            return [engine.answers_version(), EXAMPLES_VERSION, read_sealed(path)]

        def make() -> Made:
            chunks = sampled_chunks(asked)
            content = {
                "topics": topics_of(asked, chunks),
                "questions": answered_examples(engine, drafted_questions(asked, chunks)),
            }
            shown = [f"- {markdown_text(one)}" for one in content["questions"]]
            return Made(
                fingerprint(content),
                len(content["questions"]),
                [],
                sealed_file(path, content),
                {"topics": ", ".join(content["topics"])},
                {"questions": "\n".join(shown) or "*none*"},
            )

        yield from asset_step(path, make, follows_from, models=models, counted="files")
