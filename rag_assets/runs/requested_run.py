"""The process of a run that a server asked for: the ordinary run up to the indexes, its progress in a journal.

Questions are not answered and nothing is evaluated: that is the work of `rag-assets run` and of the nightly schedule,
may cost money, and would fail here for questions about papers that were just deleted. What is published is published
as in any run: whole, after its checks, or not at all.
"""

import json
import logging
import os
import sys
from pathlib import Path

import dagster as dg

from rag_assets.errors import RagAssetsError
from rag_assets.runs.journal import RunJournal
from rag_assets.runs.materialize import NewRun, RunReport, materialize

logger = logging.getLogger(__name__)
STARTED_BY = "rag-assets serve"
UP_TO_INDEX = "+index_meta"
_NICER = 10
"""Answers go first: the server runs on the same machine."""
_STEP_STATES = {
    dg.DagsterEventType.STEP_START: "running",
    dg.DagsterEventType.STEP_SUCCESS: "succeeded",
    dg.DagsterEventType.STEP_FAILURE: "failed",
    dg.DagsterEventType.STEP_SKIPPED: "skipped",
}
_SEE_LOG = "The reason is in the Dagster UI (rag-assets ui) and in data/logs/runs."


def main() -> None:
    """Run what the JSON object on standard input asks for: folder of the journal, run_id, settings."""
    request = json.load(sys.stdin)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    os.nice(_NICER)
    journal = RunJournal(Path(request["folder"]), request["run_id"])
    with journal.held():
        journal.note("process", pid=os.getpid())
        try:
            run = NewRun(journal.run_id, lambda entry: _note(journal, entry))
            report = materialize(UP_TO_INDEX, request["settings"], started_by=STARTED_BY, as_run=run)
        except RagAssetsError as error:
            logger.error("%s", error)
            journal.note("ended", state="failed", message=f"The run could not begin. {_SEE_LOG}")
        else:
            journal.note("ended", state="succeeded" if report.is_success else "failed", message=_said(report))


def _note(journal: RunJournal, entry: dg.EventLogEntry) -> None:
    event = entry.dagster_event
    if event is None:
        return
    if event.event_type is dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED and event.asset_key:
        journal.note("planned", asset=event.asset_key.to_user_string())
    elif event.event_type is dg.DagsterEventType.RUN_START:
        journal.note("began")
    elif event.event_type in _STEP_STATES and event.step_key:
        journal.note("step", asset=event.step_key, state=_STEP_STATES[event.event_type])


def _said(report: RunReport) -> str:
    """How the run ended, for readers who must not see paths."""
    if report.signal:
        return "The run was ended by a signal; what was finished is kept."
    if not report.is_success:
        withheld = [check.promise for check in report.broken if check.is_blocking]
        return f"Nothing new was published: {withheld[0]} {_SEE_LOG}" if withheld else f"The run failed. {_SEE_LOG}"
    facts = next((asset.facts for asset in report.assets if asset.asset == "parsed_index"), {})
    counts = {name: facts.get(f"n_{name}", 0) for name in ("added", "changed", "removed")}
    return "Papers: " + ", ".join(f"{n} {name}" for name, n in counts.items()) + "."
