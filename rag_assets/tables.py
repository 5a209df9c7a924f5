"""What a data folder holds now, as pandas DataFrames; pandas is imported when one is asked for.

Tables that were never made raise MissingInput, audits FileNotFoundError; without answers or
evaluations their frames are empty.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rag_assets.answering.records import read_results
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import required_table
from rag_assets.evaluation.history import read_history

if TYPE_CHECKING:
    from pandas import DataFrame


def papers(settings: Settings) -> "DataFrame":
    """A row per paper, those that cannot be read included: how its files were read, and its
    bibliographic record; the title that its file gives is `title_of_file`."""
    read = _frame(settings.paths.parsed_index)
    records = _frame(settings.paths.records)
    return read.merge(records, "left", on="paper_id", suffixes=("_of_file", ""))


def chunks(settings: Settings) -> "DataFrame":
    """A row per chunk: what is read and cited."""
    return _frame(settings.paths.chunks)


def passages(settings: Settings) -> "DataFrame":
    """A row per passage: what is searched."""
    return _frame(settings.paths.passages)


def answers(settings: Settings) -> "DataFrame":
    """A row per question, with the fields of qa.jsonl."""
    from pandas import DataFrame

    return DataFrame([asdict(result) for result in read_results(settings.paths.qa)])


def citations(settings: Settings) -> "DataFrame":
    """A row per quote of the answers: question_id, claim, and the fields of the citation."""
    from pandas import DataFrame

    return DataFrame(
        [
            {"question_id": result.question_id, "claim": claim.text, **asdict(citation)}
            for result in read_results(settings.paths.qa)
            for claim in result.claims
            for citation in claim.citations
        ]
    )


def audit(
    settings: Settings, name: Literal["qa_audit", "quarantine", "eval_audit"] = "qa_audit"
) -> "DataFrame":
    """The rows of an audit in data/logs."""
    from pandas import read_csv

    file = settings.paths.qa_audit.with_name(f"{name}.csv")
    return read_csv(file, parse_dates=["timestamp"])


def evaluations(settings: Settings) -> "DataFrame":
    """A row per evaluation, oldest first: timestamp, accepted, and a column per metric."""
    from pandas import DataFrame

    history = read_history(settings.paths.evaluation_history)
    return DataFrame(
        [
            {"timestamp": one["timestamp"], "accepted": one["accepted"], **one["metrics"]}
            for one in history
        ]
    )


def _frame(path: Path) -> "DataFrame":
    frame: DataFrame = required_table(path).to_pandas()
    return frame
