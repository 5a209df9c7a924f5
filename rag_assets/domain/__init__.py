"""The nouns of the pipeline: what a document, a chunk, a passage, a hit and an answer are.

Values only: frozen, without I/O and without knowledge of any file format, index or model.
"""

from rag_assets.domain.answers import (
    Citation,
    Claim,
    QAResult,
    Support,
    Usage,
    Verification,
    summed,
)
from rag_assets.domain.chunks import (
    Chunk,
    ChunkUnit,
    Context,
    Evidence,
    Hit,
    Passage,
    SectionPart,
    UnitKind,
)
from rag_assets.domain.documents import (
    BLOCK_SEPARATOR,
    Block,
    BlockKind,
    Cell,
    Document,
    PageSource,
    Source,
    Zone,
    n_text_chars,
)
from rag_assets.domain.spans import (
    Box,
    Span,
    all_boxes,
    first_page,
    known_spans,
    last_page,
    page_label,
    page_numbers,
    span_at,
    spans_between,
)

__all__ = [
    "BLOCK_SEPARATOR",
    "Block",
    "BlockKind",
    "Box",
    "Cell",
    "Chunk",
    "ChunkUnit",
    "Citation",
    "Claim",
    "Context",
    "Document",
    "Evidence",
    "Hit",
    "PageSource",
    "Passage",
    "QAResult",
    "SectionPart",
    "Source",
    "Span",
    "Support",
    "UnitKind",
    "Usage",
    "Verification",
    "Zone",
    "all_boxes",
    "first_page",
    "known_spans",
    "last_page",
    "n_text_chars",
    "page_label",
    "page_numbers",
    "span_at",
    "spans_between",
    "summed",
]
