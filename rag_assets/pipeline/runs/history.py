"""Where Dagster keeps the history of a data folder: its runs, materializations and checks, as the UI shows them.

The history lies inside the data folder it is about, so that the plots and checks of two folders never mix.
"""

import logging
import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from rag_assets.core.errors import ReadOnlyFolder
from rag_assets.core.settings import Paths

if TYPE_CHECKING:  # finding the folder needs no Dagster, and importing it takes a second
    import dagster as dg

logger = logging.getLogger(__name__)
HOME_VARIABLE = "DAGSTER_HOME"
_CONFIG_NAME = "dagster.yaml"
_FORMER_HOME = Path(".dagster")


def dagster_home(paths: Paths) -> Path:
    """The folder of the Dagster instance, absolute, made when it is missing: DAGSTER_HOME, else inside the data folder.

    Raises ReadOnlyFolder when it cannot be made or written.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    home = (Path(chosen) if chosen else paths.dagster).absolute()
    config = home / _CONFIG_NAME
    if not chosen and not home.exists() and (_FORMER_HOME / "history").is_dir():
        logger.info(
            "Dagster's history is kept in %s from now on. The runs of earlier versions stay in %s: to see them, set "
            "%s to that folder.",
            home,
            _FORMER_HOME.absolute(),
            HOME_VARIABLE,
        )
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not config.exists():
            config.write_bytes(files("rag_assets").joinpath(_CONFIG_NAME).read_bytes())
    except OSError as error:
        raise ReadOnlyFolder.at(home) from error
    if not os.access(home, os.W_OK):
        raise ReadOnlyFolder.at(home)
    return home


def opened_instance(home: Path) -> "dg.DagsterInstance":
    """The instance. Dagster makes its tables at the first opening, and two processes that do so at once collide."""
    import dagster as dg

    with FileLock(home / "opening.lock"):
        instance = dg.DagsterInstance.from_config(str(home))
        instance.get_run_ids(limit=1)
    return instance
