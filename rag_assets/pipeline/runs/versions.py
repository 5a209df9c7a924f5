"""What a run does in a data folder of another version of the software: it deletes files that only
earlier versions made, and states its own version.

What was paid for is read from the files of earlier versions where they lie. Tables of another
version count as absent, see `core.table_files`; a folder of a newer version is refused, see
`core.settings.paths`.
"""

from importlib.metadata import version
from pathlib import Path

from rag_assets.core.incremental import remove, sealed_json, write_atomically
from rag_assets.core.paper_tables import manifest_file
from rag_assets.core.settings import Paths
from rag_assets.core.settings.paths import DATA_VERSION
from rag_assets.search.embedding.local_model import built_by_others


def take_over(paths: Paths) -> None:
    """Delete what nothing makes any more, and state the version of the data folder. Only for the
    process that may write it."""
    known = [path for name in vars(Paths) if isinstance(path := getattr(paths, name), Path)]
    names = tuple(name for path in known for name in (path.name, manifest_file(path).name))
    for path in paths.cache.glob("*"):
        if not path.name.startswith(names):  # what may follow: a journal's ending, ".damaged-..."
            remove(path)
    for folder in built_by_others(paths.models):
        remove(folder)
    stated = {"data_version": DATA_VERSION, "software": version("rag_assets")}
    write_atomically(paths.version, sealed_json(stated))
