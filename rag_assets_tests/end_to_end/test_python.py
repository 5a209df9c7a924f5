"""The package from Python: the notebook of docs/python.md, and what importing costs."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rag_assets
from rag_assets_testing.wire import Vectors, Wire
from rag_assets_testing.world import TOKENIZER, World
from rag_assets_tests.faces.cli.processes import environment
from rag_assets_tests.test_imports import imported_by

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_notebook_of_the_docs_runs(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An example that fails at its third cell is worse than none."""
    cells = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(cells) >= 5
    question = "How much did ferritin fall in runners within a month?"
    monkeypatch.chdir(world.paths.data.parent)
    monkeypatch.setenv("RAG_ASSETS_CHUNKING__TOKENIZER", TOKENIZER["chunking"]["tokenizer"])
    names: dict[str, Any] = {}
    for cell in cells:
        exec(cell.replace("What is k in reciprocal rank fusion?", question), names)

    printed = capsys.readouterr().out
    assert (
        "holds: Ferritin fell by 12% in all groups of runners within a month of training."
        in printed
    )
    assert "1 strong ferritin 2" in printed
    assert 'there is no field "sction", is section meant?' in printed
    assert not names["result"].refused
    kept = names["kept"]["ids"][0]
    assert names["nearest"]["ids"][0][0] == kept
    assert names["nearest"]["metadatas"][0][0]["paper_id"] == kept.partition(":")[0]
    per_paper, frames = names["per_paper"], names["tables"]
    assert per_paper.loc["ferritin", ["size", "n_citations"]].min() >= 1
    papers = frames.papers(names["settings"]).set_index("paper_id")
    assert set(papers.index) == {"basalt", "ferritin", "iron"}
    assert set(papers["status"]) == {"parsed"}
    assert len(frames.answers(names["settings"])) == len(world.answers())
    assert len(frames.passages(names["settings"])) >= len(names["chunks"])


def test_pandas_is_imported_by_who_asks_for_a_table() -> None:
    """It takes 35 MB and half a second."""
    assert "pandas" not in imported_by("import rag_assets.tables")


def test_importing_the_package_imports_nothing_else() -> None:
    """Every part of the package imports it first."""
    assert not {name for name in imported_by("import rag_assets") if name.startswith("rag_assets.")}


def test_what_the_package_names_is_there_and_nothing_else() -> None:
    """A misspelt name must fail where it stands, as in any module."""
    for name in rag_assets.__all__:
        assert getattr(rag_assets, name).__name__ == name
        assert name in dir(rag_assets)
    with pytest.raises(AttributeError, match="has no attribute 'open_engines'"):
        rag_assets.open_engines  # type: ignore[attr-defined]  # noqa: B018


UNCLOSED = {
    "an engine": """
from rag_assets import load_settings, open_engine

engine = open_engine(load_settings({"embedding": {"model": "openai:text-embedding-3-small"}}))
engine.question_vector("How much did ferritin fall?")
print("done", flush=True)
""",
    "connections that nothing else refers to": """
from rag_assets.core.settings import load_settings
from rag_assets.hosted.access import require_access
from rag_assets.hosted.connections import Connections

connections = Connections(load_settings({}).model_access)
connections.to(require_access("openai"))
print("done", flush=True)
""",
}
ENDS_WITHIN_S = 20.0


@pytest.mark.parametrize("unclosed", UNCLOSED)
def test_a_script_ends_although_it_closes_nothing(
    unclosed: str, wire: Wire, tmp_path: Path
) -> None:
    """A script of a batch system, or the kernel of a notebook, would hang at its end until somebody
    ends it by force."""
    wire("openai").answer_by(lambda _: Vectors())
    script = subprocess.Popen(
        [sys.executable, "-c", UNCLOSED[unclosed]],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert script.stdout
        printed = script.stdout.readline()
        _, warned = script.communicate(timeout=ENDS_WITHIN_S)
    finally:
        script.kill()

    assert printed == "done\n", warned
    assert (script.returncode, "Traceback" in warned) == (0, False), warned
