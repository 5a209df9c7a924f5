"""Recognises TEI by the first bytes of a file, without parsing it.

Imports nothing heavy, since the registry calls this for every file of a folder.
"""

import re

from rag_assets.parsing.shared.files import BYTE_ORDER_MARKS

TEI_ROOTS = frozenset({"TEI", "tei", "TEI.2", "teiCorpus", "teiCorpus.2"})
"""Root elements of TEI P5, GROBID's training files and TEI P4; not `article` (JATS)."""

_PROLOG = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")


def looks_like_tei(head: bytes) -> bool:
    """Whether `head`, the first bytes of a file (some thousand are enough), starts a TEI document.

    Namespace, prefix, BOM, UTF-16 with or without BOM, comments and a DOCTYPE before the root do
    not matter.
    """
    return _root_name(_decoded(head)) in TEI_ROOTS


def _decoded(head: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "ignore")
    if head.startswith(b"<\x00"):
        return head.decode("utf-16-le", "ignore")
    if head.startswith(b"\x00<"):
        return head.decode("utf-16-be", "ignore")
    return head.decode("latin-1")


def _root_name(text: str) -> str | None:
    """The name of the first element, without prefix."""
    start = 0
    while match := _PROLOG.match(text, start):
        start = match.end()
    root = _ROOT.match(text, start)
    return root.group(1) if root else None
