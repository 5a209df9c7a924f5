"""How one question is answered, where that differs from the settings."""

from dataclasses import dataclass

from rag_assets.answering.drafts import Background
from rag_assets.core.settings import Effort


@dataclass(frozen=True, slots=True)
class Manner:
    """Nothing differs unless it is given."""

    k: int | None = None
    """Chunks that are read; None: `answering.k`."""
    background: Background | None = None
    """The larger text that the answer will stand in; None: it stands alone."""
    effort: Effort | None = None
    """None: `answering.effort`."""


AS_SET = Manner()
