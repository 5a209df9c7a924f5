"""What importing the definitions may pull in: every step process and every command pays for it."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
HEAVY = {
    "anthropic",
    "chromadb",
    "fastapi",
    "fastembed",
    "google.genai",
    "google.generativeai",
    "ir_measures",
    "matplotlib",
    "mcp",
    "onnx",
    "onnxruntime",
    "openai",
    "pandas",
    "pydantic_ai",
    "pypdfium2",
    "scipy",
    "starlette",
    "tantivy",
    "tiktoken",
    "torch",
    "uvicorn",
}


@cache
def imported_by(statement: str) -> set[str]:
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "module", ["rag_assets.pipeline.definitions", "rag_assets.pipeline.runs.materialize"]
)
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    """Two seconds at the top were measured to turn a run of 6 s into one of 14 s."""
    assert not HEAVY & imported_by(f"import {module}")


@pytest.mark.parametrize("option", ["--version", "-h"])
def test_version_and_help_import_only_what_prints_them(option: str) -> None:
    """Help that takes a second is help nobody asks for; a shell may run `--version` at every
    start."""
    imported = imported_by(
        f"from rag_assets.faces.cli import app; app([{option!r}], standalone_mode=False)"
    )

    needless = HEAVY | {
        "asyncio",
        "dagster",
        "idutils",
        "numpy",
        "pyarrow",
        "pydantic",
        "pydantic_settings",
        "sqlite3",
    }
    assert not needless & imported


def test_the_domain_core_runs_without_dagster() -> None:
    """The core is what other projects can use; import-linter holds the source, this the effect."""
    modules = "parsing.corpus, rag_assets.corpus.chunking.chunker, rag_assets.engine, rag_assets.evaluation.smoke"
    assert "dagster" not in imported_by(f"import rag_assets.{modules}")


def test_a_parse_worker_imports_no_more_than_it_needs() -> None:
    """A run over three changed papers starts two of them, and waits for their imports longer than
    for the papers."""
    imported = imported_by(
        "import rag_assets.core.workforce.worker_process, rag_assets.parsing.attempts"
    )

    assert not (HEAVY | {"dagster", "pyarrow.compute", "pyarrow.parquet"}) & imported


def test_what_benchmarks_import_is_no_test() -> None:
    """A benchmark that breaks when a test is renamed is one that nobody runs again."""
    shared = [
        *(PROJECT / "benchmarks").rglob("*.py"),
        *(PROJECT / "rag_assets_testing").rglob("*.py"),
    ]
    assert len(shared) > 40
    for path in shared:
        assert not re.search(
            r"^\s*(from|import) rag_assets_tests\b", path.read_text("utf-8"), re.MULTILINE
        ), path


def test_a_command_looks_for_no_garbage_when_it_ends() -> None:
    """Python looks through all objects once more before it frees them: a tenth of a question."""
    code = """
import atexit, gc
from rag_assets.faces.cli import app
atexit.register(lambda: print("frozen:", gc.get_freeze_count() > 0))
app(["clear", "--help"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "frozen: True"
