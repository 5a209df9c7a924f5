"""Look-ups of single rows in a published table, see `table_files`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rag_assets.core.errors import MissingInput
from rag_assets.core.table_files import (
    SCHEMAS,
    UnusableTable,
    columns_of,
    demand_rows,
    group_sizes,
    joined,
    opened_together,
    readable,
)

T = TypeVar("T")


class OpenTable:
    """A published table whose rows stay in its files until they are asked for; may be used by
    several threads.

    The files are opened once, so what is read is of one version, whatever is published in their
    place later.
    """

    def __init__(self, path: Path) -> None:
        """Open the table that an asset published. Raises MissingInput as `required_table`."""
        self._path, self._schema, self._lock = path, SCHEMAS[path.stem], Lock()
        with self._usable():
            self._files = opened_together(path, self._schema)
        if not self._files:
            raise MissingInput.table(path, asset=path.stem)
        self._groups = [
            (file, number) for file in self._files for number in range(file.metadata.num_row_groups)
        ]
        self._sizes = [size for file in self._files for size in group_sizes(file)]
        self._starts = np.cumsum([0, *self._sizes])
        """The first row of each group, and the number of all rows."""

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows. Raises MissingInput when a file is damaged."""
        with self._usable(), self._lock:
            return joined(columns_of(file, self._schema, names) for file in self._files)

    def values(self, rows: npt.ArrayLike, made: Callable[[pa.Table], list[T]]) -> list[T]:
        """What `made` makes of the rows with these numbers, one value a row, in the order given.

        Raises MissingInput when a file is damaged.
        """
        wanted, places = np.unique(np.asarray(rows, np.int64), return_inverse=True)
        groups = np.searchsorted(self._starts, wanted, side="right") - 1
        found: list[T] = []
        for group in np.unique(groups).tolist():
            inside = (wanted[groups == group] - self._starts[group]).tolist()
            whole = self._group(group)
            # its own `take` would import pandas, which takes 35 MB
            found += made(pa.concat_tables([whole.slice(row, 1) for row in inside]))
        return [found[place] for place in places.tolist()]

    def _group(self, number: int) -> pa.Table:
        file, group = self._groups[number]
        with self._usable(), self._lock:
            whole = file.read_row_group(group, use_threads=False)
            demand_rows(whole.num_rows, self._sizes[number])
        return whole

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            with readable():
                yield
        except UnusableTable as error:
            raise MissingInput.unusable_table(
                self._path, problem=str(error), asset=self._path.stem
            ) from error
