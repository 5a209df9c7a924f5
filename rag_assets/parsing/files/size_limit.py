"""The size limit of one file, for the formats that read a file whole. Depth and pages are checked by each format."""

from pathlib import Path

from rag_assets.errors import DocumentLimit
from rag_assets.settings import ParseLimits

_BYTES_PER_MB = 1_000_000


def demand_size(path: Path, limits: ParseLimits) -> None:
    """Raise DocumentLimit when the file is larger than `limits.max_file_mb`."""
    n_mb = path.stat().st_size / _BYTES_PER_MB
    if n_mb > limits.max_file_mb:
        raise DocumentLimit(
            f"{path} has {n_mb:.1f} MB, more than the {limits.max_file_mb:g} MB of parsing.limits.max_file_mb. "
            "Raise the limit or split the file."
        )
