"""Dagster's history of a data folder: where it is kept, and how it is opened.

The history is inside the data folder, so that the plots and checks of two folders never mix. Which
of its runs are alive is in `locks`.
"""

import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from rag_assets.core.errors import InvalidSettings, ReadOnlyFolder, raising_disk_full
from rag_assets.core.incremental import write_atomically
from rag_assets.core.settings import Paths

if TYPE_CHECKING:  # finding the folder needs no Dagster, and importing it takes a second
    import dagster as dg


HOME_VARIABLE = "DAGSTER_HOME"
_CONFIG_NAME = "dagster.yaml"
_OPENING_LOCK = "opening.lock"
_READERS = ("dagster", "dagster_shared", "yaml")
"""Packages whose errors, of many classes, tell that the configuration cannot be used."""


def dagster_home(paths: Paths) -> Path:
    """The folder of the Dagster instance, absolute, made when it is missing: DAGSTER_HOME, else
    inside the data folder.

    Raises ReadOnlyFolder when it cannot be made or written, and DiskFull.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    home = (Path(chosen) if chosen else paths.dagster).absolute()
    config = home / _CONFIG_NAME
    ours = files("rag_assets").joinpath(_CONFIG_NAME).read_bytes()
    with raising_disk_full(home):
        try:
            home.mkdir(parents=True, exist_ok=True)
            with FileLock(home / _OPENING_LOCK):  # two processes may begin together
                if not config.exists():
                    write_atomically(config, ours)
        except OSError as error:
            raise ReadOnlyFolder.at(home) from error
    if not os.access(home, os.W_OK):
        raise ReadOnlyFolder.at(home)
    return home


def opened_instance(home: Path) -> "dg.DagsterInstance":
    """The instance. Raises InvalidSettings for a dagster.yaml that cannot be used, DiskFull.

    At the first opening Dagster makes its tables, which two processes must not do at once.
    """
    import dagster as dg

    with raising_disk_full(home), FileLock(home / _OPENING_LOCK):
        try:
            instance = dg.DagsterInstance.from_config(str(home))
        except Exception as error:
            is_of_reader = type(error).__module__.partition(".")[0] in _READERS
            if not (is_of_reader or isinstance(error, UnicodeDecodeError)):
                raise  # of the database
            raise InvalidSettings(
                f"Dagster cannot use {home / _CONFIG_NAME}. Mend it, or delete it to have it made anew: {error}"
            ) from error
        instance.get_run_ids(limit=1)
    return instance


def checks_of(instance: "dg.DagsterInstance", run_id: str) -> "list[dg.AssetCheckEvaluation]":
    """The outcomes of the asset checks of a run."""
    import dagster as dg

    logged = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    events = [entry.dagster_event for entry in logged if entry.dagster_event]
    return [event.asset_check_evaluation_data for event in events]
