"""Writes what a model adds into docs/models.md: python -m rag_assets_tests.side_by_side

The same questions on the demo corpus, answered by the embedded default and by a model. The model is
scripted: its words are below, its requests and replies travel through the provider's real SDK and a
local server, and its claims are verified like any other's. So this shows the form of such answers,
not the quality of any model.
"""

import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from rag_assets_testing.wire import Reply, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, reply
from rag_assets_testing.world import World
from rag_assets_tests.settings_table import SETTINGS_PAGE

MODELS_PAGE = SETTINGS_PAGE.with_name("models.md")
DEMO = SETTINGS_PAGE.parents[1] / "data"
SHOWN = ("q08", "q12", "q04")
MODEL = "google:gemini-2.5-flash"
_PLACE = re.compile(r"(<!-- side by side: .*? -->\n).*?(<!-- end of side by side -->)", re.DOTALL)
_SAYS: dict[str, list[tuple[str, list[str]]]] = {
    "How much faster": [
        (
            "Sentence-BERT cuts the search for the most similar pair among 10,000 sentences from about 65 hours with "
            "BERT to about 5 minutes.",
            [
                "takes about 65 hours with BERT, because about 50 million pairs have to be processed, and about 5 "
                "seconds with Sentence-BERT",
                "cut the search for the most similar pair among 10,000 sentences from about 65 hours to about 5 "
                "seconds",
            ],
        )
    ],
    "How does pooling work": [
        (
            "In pooling, the top-ranked documents of many systems are merged into one pool; only these are judged, and "
            "all others count as irrelevant.",
            [
                "the top-ranked documents of many different systems are merged into one pool, and only the documents "
                "in the pool are judged; all others are taken to be irrelevant"
            ],
        ),
        (
            "Zobel found recall to be overestimated, because many relevant documents were found by none of the pooled "
            "systems.",
            [
                "recall is overestimated because many relevant documents were never found by any of the pooled systems"
            ],
        ),
    ],
    "What should be done about hyphens": [
        (
            "When indexing, hyphens inside words are kept, so that BMS-986158 stays a single term as rare as the "
            "compound it names.",
            [
                "stores BMS-986158 as a single term, which is exactly as rare as the compound it names"
            ],
        ),
        (
            "When a quote is checked, a word divided at the end of a line is joined again, while the hyphen of a "
            "compound has to survive.",
            [
                "a word divided by a hyphen at the end of a line must be joined again",
                "The hyphen of a compound such as BMS-986158 must survive this step",
            ],
        ),
        (
            "Hyphens should always be removed.",
            ["hyphens are best removed from every text before it is indexed"],
        ),
    ],
}


_MENDED = ("about 5 minutes", "about 5 seconds")
"""What the model writes at first, and once it is told that the number stands in none of its
quotes."""
_MOST_SENTENCES = 4


def scripted_model(request: WireRequest) -> Reply:
    """What the model above says, with the sentences that hold each quote.

    Asked to mend, it mends the one statement it can."""
    prompt = Prompt.of(request)
    [said] = [claims for start, claims in _SAYS.items() if prompt.question.startswith(start)]
    wrong, right = _MENDED
    is_mending = "Statements to mend:" in request.prompt
    if is_mending:
        said = [(claim.replace(wrong, right), quotes) for claim, quotes in said if wrong in claim]
    written = reply(
        [
            (claim, [cite for quote in quotes for cite in _cites(quote, prompt)])
            for claim, quotes in said
        ]
    )
    if not is_mending:
        return written
    body = json.loads(written.text)
    body["claims"] = [claim | {"replaces": 1} for claim in body["claims"]]
    return replace(written, text=json.dumps(body))


def _cites(quote: str, prompt: Prompt) -> list[str]:
    """The ids of the sentences from the beginning of a quote to its end; the quote itself where no
    source holds it."""
    ids = list(prompt.sentences)
    for first, id_ in enumerate(ids):
        if quote[:10] in prompt.sentences[id_]:
            for last in range(first, min(first + _MOST_SENTENCES, len(ids))):
                if quote[-10:] in prompt.sentences[ids[last]]:
                    return ids[first : last + 1]
    return [quote]


def side_by_side(extractive: Mapping[str, Any], by_model: Mapping[str, Any]) -> str:
    """A table of the shown questions with both answers, from rows of qa.jsonl by question id."""
    rows = ["| question | without a key | with a model |", "|---|---|---|"]
    for name in SHOWN:
        left_out = "".join(
            f' *Left out: "{one["claim"]}" ({one["why"]}).*' for one in by_model[name]["left_out"]
        )
        asked, keyless, written = (
            extractive[name]["question"],
            extractive[name]["answer"],
            by_model[name]["answer"],
        )
        rows.append(f"| {asked} | {keyless} | {written}{left_out} |")
    return "\n".join(rows) + "\n"


def answered_by_model(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The rows of the shown questions; `world` is a finished demo corpus and is changed."""
    questions = [
        line
        for line in (DEMO / "questions" / "smoke.jsonl").read_text("utf-8").splitlines()
        if any(f'"{name}"' in line for name in SHOWN)
    ]
    (world.paths.questions / "smoke.jsonl").write_text("\n".join(questions) + "\n", "utf-8")
    with WireServer("google") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(scripted_model)
        world.run(answering={"model": MODEL})
    return world.answers()


def with_table(readme: str, table: str) -> str:
    """The page with the table put in its place."""
    return _PLACE.sub(lambda found: f"{found[1]}\n{table}\n{found[2]}", readme)


def _main() -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        world = World(Path(folder))
        for name in ("papers", "questions"):
            shutil.copytree(DEMO / name, world.paths.data / name, dirs_exist_ok=True)
        world.run()
        table = side_by_side(world.answers(), answered_by_model(world, monkeypatch))
    MODELS_PAGE.write_text(with_table(MODELS_PAGE.read_text("utf-8"), table), "utf-8")
    sys.stdout.write(f"wrote {MODELS_PAGE.name}\n")


if __name__ == "__main__":
    _main()
