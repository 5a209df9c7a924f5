"""A model whose replies are kept on disk, each prompt asked once."""

import logging
from typing import Generic, TypeVar

from pydantic import BaseModel

from rag_assets.core.domain import Usage
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept
from rag_assets.hosted.lazy_model import LazyModel

logger = logging.getLogger(__name__)
Reply = TypeVar("Reply", bound=BaseModel)


class KeptReplies(Generic[Reply]):
    """Safe to use from several threads; the same prompt in two of them is asked once."""

    def __init__(
        self, model: LazyModel[Reply], kept: Kept[Reply], nothing: Reply, timeout_s: float | None = None
    ) -> None:
        """nothing: kept in place of a reply that cannot be read, or it would be paid for every night. timeout_s: how
        long one is waited for; None: as long as for any."""
        self._model = model
        self._kept = kept
        self._nothing = nothing
        self._timeout_s = timeout_s

    def to(self, prompt: str) -> tuple[Reply, Usage]:
        """The reply, and what it cost now. Raises what `Connection.guarded` raises."""
        key = fingerprint(self._model.model_id, self._model.instructions, prompt)
        usage = Usage()

        def asked() -> Reply:
            nonlocal usage
            reply = self._model.ask(prompt, self._timeout_s)
            if reply.output is None and reply.fault is not None:
                raise reply.fault
            if reply.output is None:
                logger.warning(
                    "The reply of %s cannot be read; what asked for it goes on without.", self._model.model_id
                )
            usage = reply.usage
            return reply.output or self._nothing

        reply, _ = self._kept.once(key, asked)
        return reply, usage
