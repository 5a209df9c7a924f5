"""What must be true of a data folder before anything is read from it or written into it."""

import os

from rag_assets.core.errors import MissingInput, ReadOnlyFolder
from rag_assets.core.settings import Paths


def demand_data_folder(paths: Paths) -> None:
    """Raise MissingInput unless the data folder is there: a mistyped name must not make a new, empty one."""
    if not paths.data.is_dir():
        what = "is not a folder" if paths.data.exists() else "does not exist"
        raise MissingInput(
            f"The data folder {paths.data} {what}. Nothing was made or changed. Create it with papers/ in it, or name "
            "another: --data DIR, RAG_ASSETS_DATA_DIR or data_dir in rag_assets.toml."
        )


def demand_writable(paths: Paths) -> None:
    """Raise MissingInput unless the data folder is there, ReadOnlyFolder unless it and what is made in it can be
    written by this user."""
    demand_data_folder(paths)
    made = (paths.cache, paths.chroma.parent, paths.qa.parent, paths.qa_audit.parent)
    for folder in (paths.data, *(folder for folder in made if folder.exists())):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ReadOnlyFolder.at(folder)
