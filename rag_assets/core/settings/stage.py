"""What changes the result of a stage.

A class is a recompute boundary: it holds everything that changes one stage's result and nothing
else. Its fingerprint covers all its fields, but no class nested in it, which is a boundary of its
own. What changes no result is in `operation`.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.core.incremental import fingerprint

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class StageSettings(BaseModel):
    """Settings of one stage: frozen, without unknown keys, with a fingerprint over its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def fingerprint(self) -> str:
        """32 hex digits that change with every field; a group inside this one has a fingerprint of
        its own."""
        groups = {
            name
            for name in type(self).model_fields
            if isinstance(getattr(self, name), StageSettings)
        }
        return fingerprint(type(self).__name__, self.model_dump(mode="json", exclude=groups))
