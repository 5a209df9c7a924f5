"""How one question is answered, where that differs from the settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manner:
    """Nothing differs unless it is given."""

    k: int | None = None
    """Chunks that are read; None: `answering.k`."""
    background: str = ""
    """The larger text that the answer will stand in. A model that writes reads it; nothing is searched for it."""


AS_SET = Manner()
