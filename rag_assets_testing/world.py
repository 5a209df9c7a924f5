"""A small corpus in a folder of its own, and runs over it on an instance of its own."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

from rag_assets.core.settings import Paths
from rag_assets.pipeline.definitions import build_defs

_TEI = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>{title}</title></titleStmt>
<publicationStmt/><sourceDesc/></fileDesc></teiHeader><text><body>{body}</body></text></TEI>
"""
TOPICS = {
    "ferritin": (
        "Ferritin in athletes",
        "Ferritin fell by 12% in all groups of runners within a month of training.",
    ),
    "iron": (
        "Iron and endurance",
        "Iron supplements kept ferritin stable in runners who trained for a month.",
    ),
    "basalt": (
        "Basalt and water",
        "Basalt takes up water along its cracks when it is buried under the sea floor.",
    ),
}
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "q1",
        "question": "How much did ferritin fall in runners within a month?",
        "key_facts": [["12%"]],
    },
    {
        "id": "q2",
        "question": "Where does basalt take up water?",
        "paper_ids": ["basalt"],
        "key_facts": [["cracks"]],
    },
    {
        "id": "q3",
        "question": "Who composed the opera about the queen?",
        "paper_ids": ["iron"],
        "answerable": False,
    },
]
TOKENIZER = {"chunking": {"tokenizer": "wordpiece"}}
"""The same on every machine, whatever can be fetched there."""


@dataclass(frozen=True)
class Outcome:
    """What a run did, as its events tell it."""

    is_success: bool
    counts: Mapping[str, tuple[int, int, int, int]]
    """Added, changed, removed, unchanged of every asset that was materialized."""
    versions: Mapping[str, str]
    facts: Mapping[str, Mapping[str, Any]]
    broken: Mapping[str, str]
    """Failed blocking checks, "asset.check" -> the table of offenders."""
    warned: Mapping[str, str]
    """Failed advisories, likewise."""
    failures: Mapping[str, str]
    """Failed steps and their errors."""


class World:
    """A data folder and what can happen to it."""

    def __init__(self, root: Path) -> None:
        self.paths = Paths(root / "data")
        self.paths.papers.mkdir(parents=True, exist_ok=True)
        self.paths.questions.mkdir(parents=True, exist_ok=True)
        (root / "dagster").mkdir(exist_ok=True)
        self.begin_history()

    def begin_history(self) -> None:
        """Forget what Dagster knows of earlier runs."""
        self.instance = dg.DagsterInstance.ephemeral(
            tempdir=str(self.paths.data.parent / "dagster")
        )

    def write_paper(self, paper_id: str, title: str, fact: str) -> None:
        """A TEI paper of two sections on three pages."""
        first = "".join(f"<p>{sentence}</p>" for sentence in _filler(title, range(12)))
        second = "".join(f"<p>{sentence}</p>" for sentence in _filler(title, range(12, 24)))
        body = (
            f'<div><head n="1">Background</head><pb n="1"/>{first}</div>'
            f'<div><head n="2">Results</head><pb n="2"/><p>{fact} Nobody had expected it.</p><pb n="3"/>{second}</div>'
        )
        path = self.paths.papers / f"{paper_id}.tei.xml"
        path.write_text(_TEI.format(title=title, body=body), "utf-8")

    def write_questions(self, questions: Iterable[Mapping[str, Any]]) -> None:
        lines = "".join(json.dumps(question) + "\n" for question in questions)
        (self.paths.questions / "smoke.jsonl").write_text(lines, "utf-8")

    def run(self, *assets: str, **settings: Any) -> Outcome:
        """These assets, or everything where none is named, with these settings for this run."""
        definitions = build_defs(
            overrides={"data_dir": str(self.paths.data), **TOKENIZER, **settings}
        )
        result = definitions.resolve_job_def("everything").execute_in_process(
            instance=self.instance,
            raise_on_error=False,
            asset_selection=[dg.AssetKey(asset) for asset in assets] or None,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        return _outcome(result)

    def table(self, path: Path) -> pa.Table:
        return pq.read_table(path)

    def answers(self) -> dict[str, dict[str, Any]]:
        rows = [json.loads(line) for line in self.paths.qa.read_text("utf-8").splitlines()]
        return {row["question_id"]: row for row in rows}

    def bytes_of(self, *folders: Path) -> dict[str, str]:
        """Hash of every file below the folders, by path; without what is noted of the times of
        paper files, which are known only a moment after they were written."""
        files = sorted(
            file
            for folder in folders
            for file in ([folder] if folder.is_file() else folder.rglob("*"))
        )
        return {
            str(file.relative_to(self.paths.data)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.is_file() and file != self.paths.known_files
        }

    def use_models(self, models: Path) -> None:
        """Take the models of another folder. The files are shared, as they are only ever replaced
        as a whole."""
        shutil.copytree(models, self.paths.models, copy_function=os.link)

    def copy_to(self, root: Path) -> "World":
        """The same world elsewhere, with a history of its own. It shares the files of models."""
        models = self.paths.models
        shutil.copytree(
            self.paths.data,
            root / "data",
            ignore=lambda folder, names: (
                {models.name} & set(names) if Path(folder) == models.parent else set()
            ),
        )
        copy = World(root)
        if models.exists():
            copy.use_models(models)
        return copy


def made_once(root: Path, make: Callable[[World], None]) -> World:
    """A world that all processes of a test run share; the first that needs it makes it. Not to be
    changed."""
    world, finished = World(root), root.with_name(f"{root.name} is finished")
    with FileLock(root.with_name(f"{root.name}.lock")):
        if not finished.exists():
            make(world)
            finished.touch()
    return world


def _filler(title: str, numbers: Iterable[int]) -> list[str]:
    """Sentences that differ between papers and from each other."""
    words = (
        "careful",
        "early",
        "later",
        "open",
        "repeated",
        "small",
        "large",
        "careless",
        "distant",
        "recent",
        "old",
    )
    return [
        f"The {words[n % len(words)]} observation number {n} on {title.lower()} was written down by {words[-n % 7]} "
        f"hands and compared with {n * 7 + 3} other records of the same kind."
        for n in numbers
    ]


def _outcome(result: dg.ExecuteInProcessResult) -> Outcome:
    events = result.get_asset_materialization_events()
    facts = {
        event.asset_key.to_user_string(): {
            key: value.value for key, value in event.materialization.metadata.items()
        }
        for event in events
        if event.asset_key
    }
    names = ("n_added", "n_changed", "n_removed", "n_unchanged")
    return Outcome(
        is_success=result.success,
        counts={
            asset: tuple(found.get(name, 0) for name in names)  # type: ignore[misc]
            for asset, found in facts.items()
        },
        versions={
            event.asset_key.to_user_string(): event.materialization.tags["dagster/data_version"]
            for event in events
            if event.asset_key and event.materialization.tags
        },
        facts=facts,
        broken=_failed(result, dg.AssetCheckSeverity.ERROR),
        warned=_failed(result, dg.AssetCheckSeverity.WARN),
        failures={
            event.step_key or "": str(event.step_failure_data.error)
            for event in result.all_events
            if event.is_step_failure
        },
    )


def _failed(result: dg.ExecuteInProcessResult, severity: dg.AssetCheckSeverity) -> dict[str, str]:
    return {
        f"{check.asset_key.to_user_string()}.{check.check_name}": str(
            check.metadata["offenders"].value
        )
        for check in result.get_asset_check_evaluations()
        if not check.passed and check.severity is severity
    }
