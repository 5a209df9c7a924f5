"""Folders as a power cut leaves them: some of the pages of the graph's files are new, the others
old."""

from pathlib import Path

GRAPH_FILES = ("data_level0.bin", "header.bin", "length.bin", "link_lists.bin")
_PAGE_BYTES = 64
"""Small, so that the files of small graphs have several pages too."""


def tear(folder: Path, other: Path, name: str) -> None:
    """Put every second page of the file `name` of `other`'s graph into that of `folder`, in place.

    Both are folders of Chroma. The size of the file stays as it is.
    """
    torn, newer = _graph_file(folder, name), _graph_file(other, name).read_bytes()
    content = bytearray(torn.read_bytes())
    for start in range(0, len(content), 2 * _PAGE_BYTES):
        page = newer[start : start + _PAGE_BYTES][: len(content) - start]
        content[start : start + len(page)] = page
    if (
        content == torn.read_bytes()
    ):  # both builds have the same pages: then a page of something else
        content[:_PAGE_BYTES] = b"\xff" * len(content[:_PAGE_BYTES])
    torn.write_bytes(content)


def _graph_file(folder: Path, name: str) -> Path:
    (found,) = folder.glob(f"*/{name}")
    return found
