"""Opening an index in a folder that this user may read only.

Both engines insist on writing where they open: tantivy a lock file, Chroma a row in its database. Nothing of what they
write matters to a search.
"""

import os
import shutil
import weakref
from collections.abc import Callable, Collection
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeVar

Index = TypeVar("Index")
_LOCK = ".lock"


def opened_for_reading(folder: Path, open_index: Callable[[Path], Index], copied: Collection[str] = ()) -> Index:
    """`open_index(folder)`; where the folder cannot be written, of a temporary folder of links to its files.

    copied: names of the files that the engine writes, which are copied instead. The temporary folder is removed with
    the index. Raises what `open_index` raises.
    """
    if os.access(folder, os.W_OK):
        return open_index(folder)
    view = Path(mkdtemp(prefix="rag-assets-index-"))
    try:
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != _LOCK):
            place = view / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            if file.name in copied:
                shutil.copyfile(file, place)
            else:
                place.symlink_to(file.absolute())
        index = open_index(view)
    except BaseException:
        shutil.rmtree(view, ignore_errors=True)
        raise
    weakref.finalize(index, shutil.rmtree, view, ignore_errors=True)
    return index
