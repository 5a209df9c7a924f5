"""Data folders with the papers of a set, built by the pipeline's own command and kept for the next
run.

A folder belongs to the settings that its indexes follow from, so variants of retrieval and
answering share one. A new folder starts as a copy of the newest one of the set: the pipeline keeps
what has not changed, vectors above all.
"""

import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import rag_assets
from benchmarks.quality.questions import QuestionSet
from rag_assets.core.settings import Settings, load_settings
from rag_assets.faces.cli.options import overrides_of

STAMP = "built.json"
"""Says with which settings and code a folder was built."""
COMMAND = (sys.executable, "-c", "from rag_assets.faces.cli import app; app()")
_OF_NO_INDEX = {
    "data_dir", "questions", "answering", "evaluation", "automation", "model_access", "execution",
}  # fmt: skip
_CODE_OF_NO_INDEX = {"answering", "retrieval", "reranking", "engine", "cli", "evaluation", "runs"}


@dataclass(frozen=True)
class BuiltFolder:
    """A data folder whose indexes are current."""

    data: Path
    settings: Settings
    index_seconds: dict[str, float] | None
    """clock and cpu of building it from nothing; None when it began as a copy."""


def built_folder(one: QuestionSet, work: Path, values: Sequence[str]) -> BuiltFolder:
    """The folder of a set for `--set` values such as "retrieval.dense_weight=0.5"; builds what is
    missing."""
    settings = load_settings(overrides_of(work, list(values)))
    data = data_folder(one.name, work, settings)
    stamp_file, wanted = data / STAMP, stamp_of(settings)
    known = json.loads(stamp_file.read_bytes()) if stamp_file.is_file() else {}
    if {name: known.get(name) for name in wanted} != wanted:
        is_new = prepared(one, data)
        seconds = _build(data, values)
        known = {**wanted, "index_seconds": seconds if is_new else known.get("index_seconds")}
        stamp_file.write_text(json.dumps(known), "utf-8")
    return BuiltFolder(
        data, load_settings(overrides_of(data, list(values))), known["index_seconds"]
    )


def data_folder(set_name: str, work: Path, settings: Settings) -> Path:
    """Where the set lies, by the settings that its indexes follow from; those at their default do
    not count."""
    build = settings.model_dump(
        mode="json", exclude=_OF_NO_INDEX | {"retrieval"}, exclude_defaults=True
    )
    return work / "data" / set_name / digest(build)


def stamp_of(settings: Settings) -> dict[str, str]:
    """What a folder must have been built with to be asked without running the command again.

    Settings of retrieval count here: some say what is kept with the index.
    """
    build = settings.model_dump(mode="json", exclude=_OF_NO_INDEX, exclude_defaults=True)
    return {"settings": digest(build), "code": code_digest(skipped=_CODE_OF_NO_INDEX)}


def prepared(one: QuestionSet, data: Path) -> bool:
    """Make the folder with its papers if it is not there. Whether it holds nothing but them."""
    if data.exists():
        return False
    others = sorted(data.parent.glob(f"*/{STAMP}"), key=lambda path: path.stat().st_mtime)
    fresh = data.parents[1] / f"{data.parent.name}.making"
    shutil.rmtree(fresh, ignore_errors=True)
    if others:
        shutil.copytree(others[-1].parent, fresh, ignore=shutil.ignore_patterns(STAMP))
    else:
        (fresh / "papers").mkdir(parents=True)
        one.write_papers(fresh / "papers")
    data.parent.mkdir(parents=True, exist_ok=True)
    fresh.rename(data)
    return not others


def digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:12]


def code_digest(skipped: set[str] | frozenset[str] = frozenset()) -> str:
    """Of the package's sources, those in the subpackages `skipped` left out."""
    root = Path(rag_assets.__file__).parent
    files = [
        path
        for path in sorted(root.rglob("*.py"))
        if path.relative_to(root).parts[0] not in skipped
    ]
    return digest(
        [(str(path.relative_to(root)), sha256(path.read_bytes()).hexdigest()) for path in files]
    )


def _build(data: Path, values: Sequence[str]) -> dict[str, float]:
    """Run the command; its seconds on the clock, and of the processor with all its workers."""
    started, cpu_started = time.perf_counter(), cpu_of_children()
    given = [part for value in values for part in ("--set", value)]
    log = data / "build.log"
    with log.open("w") as out:
        done = subprocess.run(
            [*COMMAND, "index", "build", "--data", str(data), *given], stdout=out, stderr=out
        )
    if done.returncode:
        sys.exit(f"rag-assets index build failed; see {log}")
    return {
        "clock": round(time.perf_counter() - started, 1),
        "cpu": round(cpu_of_children() - cpu_started, 1),
    }


def cpu_of_children() -> float:
    """Seconds of the processor that ended child processes used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
