"""The second look of a model behind an API, under the name it had before there were other judges; see `judges`."""

import time
from collections.abc import Callable
from pathlib import Path

from rag_assets.answering.citations.support import SupportScorer
from rag_assets.answering.judges import second_look
from rag_assets.answering.judges.hosted import HostedJudge, Verdict, Verdicts
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections

__all__ = ["JudgedSupport", "Verdict", "Verdicts"]


class JudgedSupport(second_look.JudgedSupport):
    """See `judges.second_look`."""

    def __init__(
        self,
        name: ModelName,
        connections: Connections,
        scorer: SupportScorer,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(HostedJudge(name, connections), scorer, folder, clock=clock)
