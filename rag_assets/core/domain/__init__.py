"""The values of the pipeline: documents, chunks, passages, hits and answers.

They are frozen, do no I/O, and know no file format, index or model.
"""

from rag_assets.core.domain.answers import (
    FULL_SUPPORT_FROM,
    HALF_SUPPORT_FROM,
    Citation,
    CitedWork,
    Claim,
    LeadSentence,
    LeftOut,
    QAResult,
    Support,
    Usage,
    Verification,
    cost_words,
    summed,
)
from rag_assets.core.domain.chunks import (
    Chunk,
    ChunkUnit,
    Passage,
    Place,
    SectionPart,
    SparseVector,
    embedded_text,
)
from rag_assets.core.domain.documents import (
    BLOCK_SEPARATOR,
    BREAK,
    GROUP_SEPARATOR,
    NO_RECORD,
    STATEMENTS_HEADING,
    TITLE_PAGE_HEADING,
    Block,
    BlockKind,
    Cell,
    Document,
    PageSource,
    PaperOrder,
    Person,
    PrintedFront,
    Record,
    SectionKind,
    SourceFormat,
    Zone,
    n_text_chars,
)
from rag_assets.core.domain.evidence import (
    PARTIAL_FROM,
    Band,
    Context,
    ContextPassage,
    ContextUnit,
    Evidence,
    Hit,
    PaperFacts,
    Query,
    QueryOrigin,
    ReportedFinding,
    band_of,
)
from rag_assets.core.domain.filters import (
    EVERYTHING,
    Condition,
    Filter,
    FilterField,
    NumberRange,
    Value,
)
from rag_assets.core.domain.places import (
    Box,
    Span,
    all_boxes,
    any_by_ocr,
    first_page,
    known_spans,
    last_page,
    page_label,
    page_range,
    page_words,
    span_at,
    spans_between,
)
from rag_assets.core.domain.statements import Statement, StatementKind
