"""Reads untrusted XML.

Nothing outside the file is opened: no DTD, entity, XInclude or network access. Entities inside it
are not expanded: an entity stays a node of the tree, which `entity_text` turns into safe text. The
depth is limited, and libxml2's own limits apply.
"""

import html
import re
from dataclasses import dataclass
from functools import partial

from lxml import etree

from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.shared.files import MAX_DEPTH

_SAFE_PARSER = partial(
    etree.XMLParser, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
)
_LIMIT_MESSAGES = re.compile(
    r"excessive depth|huge|too long|too big|too large|amplification|entity.*(?:loop|recurs)|maximum",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class XmlTree:
    root: etree._Element
    notes: tuple[str, ...] = ()
    """What had to be repaired to read it; empty for a well-formed file."""


def read_xml(content: bytes) -> XmlTree:
    """Parse the bytes of a file, in recovery mode if it is not well-formed.

    Raises DocumentLimit when it passes a limit of depth or expansion, UnreadableDocument when it
    holds no XML element. Errors are phrases that can follow the name of the file.
    """
    if not content.strip():
        raise UnreadableDocument("is empty, XML was wanted. Write the file again.")
    try:
        tree = XmlTree(etree.fromstring(content, _SAFE_PARSER()))
    except etree.XMLSyntaxError as error:
        tree = _recovered(content, error)
    _check_depth(tree.root)
    return tree


def entity_text(entity: etree._Entity) -> str:
    """The text of an entity that was not expanded: the character of an HTML name (`&nbsp;`), else
    the reference as it is written."""
    reference = entity.text or ""
    return html.unescape(reference)


def _recovered(content: bytes, error: etree.XMLSyntaxError) -> XmlTree:
    """Parse again and skip over errors, unless the first attempt ended at a limit. error: from the
    first attempt."""
    problem = next(iter((error.msg or "").strip().splitlines()), "no reason given")[:200]
    if _LIMIT_MESSAGES.search(problem):
        raise DocumentLimit(
            f"passed a safety limit of the XML parser ({problem}). Remove the nesting or the entities from the file."
        ) from error
    try:
        root = etree.fromstring(content, _SAFE_PARSER(recover=True))
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise UnreadableDocument(
            f"holds no readable XML ({problem}). Write the file again, or remove it."
        ) from error
    return XmlTree(
        root, (f"The XML is not well-formed ({problem}); it was read in recovery mode.",)
    )


def _check_depth(root: etree._Element) -> None:
    """Raise DocumentLimit for deep nesting. Visits the tree level by level, because recursion would
    overflow on a deep tree."""
    depth, level = 1, [root]
    while level := [child for element in level for child in element]:
        depth += 1
        if depth > MAX_DEPTH:
            raise DocumentLimit(f"nests elements more than {MAX_DEPTH} deep. Flatten it.")
