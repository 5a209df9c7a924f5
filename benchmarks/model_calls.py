"""What answers by a model cost: calls, tokens and seconds of a first run, an unchanged one, and
after an edit.

    python benchmarks/model_calls.py [--latency SECONDS]

The demo corpus is copied and everything but the answers made with the embedded default. Then the
answers are asked of a scripted model behind a local server that speaks OpenAI's protocol and takes
its time over each reply; requests go through the real SDK. Tokens are those of the real prompts and
replies, counted with the tokenizer of the corpus. Correctness comes first: a run whose questions
are not all answered gets no row.
"""

import argparse
import importlib.metadata
import json
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from rag_assets.core.text.tokens import token_counter
from rag_assets_testing.wire import Reply, Slow, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_testing.world import World

DEMO = Path(__file__).parents[1] / "data"
SETTINGS = {
    "answering": {"model": "openai:gpt-5-mini"},
    "model_access": {"requests_per_minute": 6000},
}
EDITED = "evaluation/retrieval_metrics.tei.xml"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--latency", type=float, default=0.5, help="seconds the scripted model takes for a reply"
    )
    latency_s = parser.parse_args().latency
    with (
        TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as monkeypatch,
        WireServer("openai") as server,
    ):
        use_wire_environment(monkeypatch, server)
        server.answer_by(lambda request: Slow(latency_s, _counted(request)))
        world = World(Path(folder))
        for name in ("papers", "questions"):
            shutil.copytree(DEMO / name, world.paths.data / name, dirs_exist_ok=True)
        world.run()
        print(
            f"| run | seconds | calls | tokens in | tokens out | drafts reused | answers changed |\n|{'---|' * 7}"
        )
        _measured("first", world)
        _measured("unchanged", world)
        _edit(world.paths.papers / EDITED)
        _measured("one sentence of one paper changed", world)
        (world.paths.papers / EDITED).unlink()
        _measured("that paper deleted", world)
    versions = {
        name: importlib.metadata.version(name) for name in ("pydantic-ai-slim", "openai", "dagster")
    }
    print(
        f"\nPython {sys.version.split()[0]}, {json.dumps(versions)}, {latency_s} s a reply, 4 side by side"
    )


def _counted(request: WireRequest) -> Reply:
    reply = quoting_model(request)
    counter = token_counter("wordpiece")
    n_input, n_output = counter.count_all([f"{request.system}\n{request.prompt}", reply.text])
    return replace(reply, n_input_tokens=n_input, n_output_tokens=n_output)


def _measured(name: str, world: World) -> None:
    started = time.monotonic()
    outcome = world.run(**SETTINGS)
    seconds = time.monotonic() - started
    facts = outcome.facts["qa"]
    if facts["n_left"]:
        raise SystemExit(f"{name}: {facts['n_left']} questions were not answered")
    columns = (
        "n_model_requests",
        "n_input_tokens",
        "n_output_tokens",
        "n_cached_drafts",
        "n_changed",
    )
    print(
        f"| {name} | {seconds:.1f} | " + " | ".join(str(facts[column]) for column in columns) + " |"
    )


def _edit(paper: Path) -> None:
    text = paper.read_text("utf-8")
    edited = text.replace(
        "top-ranked documents of many different", "top-ranked documents of several different"
    )
    if edited == text:
        raise SystemExit(f"{paper} no longer holds the sentence that is edited")
    paper.write_text(edited, "utf-8")


if __name__ == "__main__":
    main()
