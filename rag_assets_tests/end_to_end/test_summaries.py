"""Summaries by a model, from the chunks to what a question finds.

The demo pipeline runs in Dagster, the model is a local server that speaks Google's protocol.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.settings import load_settings
from rag_assets.engine import open_engine
from rag_assets_testing.wire import Reply, Step, Wire, WireRequest
from rag_assets_testing.world import TOKENIZER, Outcome, World

UNHEARD_OF = "zymurgy"
"""A word that no paper has."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wire: Wire) -> None:
    monkeypatch.chdir(tmp_path)
    wire("google").answer_by(about_basalt_and_others)


def about_basalt_and_others(request: WireRequest) -> Step:
    is_basalt = "basalt" in request.prompt.lower()
    return Reply(
        json.dumps({"summary": f"This part is about {UNHEARD_OF if is_basalt else 'runners'}."})
    )


def summarized(world: World, **access: Any) -> Outcome:
    return world.run(
        summaries={"model": "google:gemini-2.5-flash"},
        model_access={"requests_per_minute": 60_000, **access},
    )


@pytest.mark.usefixtures("server")
def test_a_chunk_is_found_by_a_word_of_its_summary_and_is_never_quoted_by_it(
    world: World,
) -> None:
    """What a model wrote about a paper, published as a quote of it, would be an invented source."""
    done = summarized(world)

    assert done.is_success, done.failures or done.broken
    assert not done.warned.get("summaries.all_summarized")
    assert done.counts["embeddings"][3] == 0, "vectors of texts and summaries made -11 unchanged"
    texts = world.table(world.paths.passages)["text"].to_pylist()
    assert not any(UNHEARD_OF in text for text in texts)
    settings = load_settings(
        {"data_dir": str(world.paths.data), **TOKENIZER, "summaries": {"model": "google:x"}}
    )
    with open_engine(settings) as engine:
        [best, *_] = engine.search(f"What is {UNHEARD_OF}?")
        contexts = engine.evidence(f"What is {UNHEARD_OF}?").contexts
    assert (best.chunk.paper_id, UNHEARD_OF in best.passage.summary) == ("basalt", True)
    assert (best.lexical_score or 0) > 0
    assert not any(UNHEARD_OF in context.text for context in contexts)
