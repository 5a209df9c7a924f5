"""Which judge a setting means. Opening one loads nothing and sends nothing."""

from pathlib import Path

from rag_assets.answering.model.judges.base import ClaimJudge
from rag_assets.answering.model.judges.cross_encoder import CrossEncoderJudge
from rag_assets.answering.model.judges.hosted import HostedJudge
from rag_assets.answering.model.judges.yes_or_no import YesOrNoJudge, answers_yes_or_no
from rag_assets.core.settings import Settings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.search.reranking.cross_encoder import CrossEncoderFiles, FolderFiles, HubFiles

SETTING = "answering.judge.model"
_INSTEAD = f"name a folder that has it (folder:PATH), or set {SETTING} to none."


def judge_files(named: str, models_folder: Path) -> CrossEncoderFiles | None:
    """Of a judge that runs here: folder:PATH or fastembed:REPOSITORY; None for any other."""
    kind, _, place = named.partition(":")
    if kind == "folder" and place:
        return FolderFiles(Path(place), SETTING)
    return HubFiles(place, models_folder, _INSTEAD) if kind == "fastembed" and place else None


def judge_name(named: str) -> ModelName:
    """Of a judge behind an API. Raises InvalidSettings."""
    return ModelName.parse(named, setting=SETTING, instead="same, none, folder:PATH, fastembed:REPOSITORY")


def open_judge(named: str, settings: Settings, connections: Connections) -> ClaimJudge:
    """The judge that `named` means. Raises InvalidSettings for one that does not exist, MissingKey."""
    files = judge_files(named, settings.paths.models)
    if files is not None:
        return CrossEncoderJudge(named, files, settings.execution.n_workers)
    name = judge_name(named)
    return YesOrNoJudge(name, connections) if answers_yes_or_no(name) else HostedJudge(name, connections)
