"""What a parser makes of the content of a file."""

from collections.abc import Callable

from rag_assets.core.domain import Document
from rag_assets.core.settings import ParseLimits, ParsingSettings
from rag_assets.parsing.shared.files import RawFile

Parser = Callable[[RawFile, ParsingSettings], Document]


def read_content(
    parse: Parser, name: str, content: str | bytes, limits: ParseLimits | None = None
) -> Document:
    """The document that a parser makes of a file of this name; its paper has the name's stem."""
    given = content.encode() if isinstance(content, str) else content
    raw = RawFile(name.partition(".")[0], name, given)
    return parse(raw, ParsingSettings(limits=limits or ParseLimits()))
