"""GET /api/health: what is served. Answers at once, also while the engine opens its models."""

from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rag_assets.answering.evaluation.history import read_history
from rag_assets.faces.server.dependencies import SharedDep

router = APIRouter(prefix="/api", tags=["server"])


class Health(BaseModel):
    status: Literal["ready", "not built"] = Field(description='"not built": no index yet; questions get problem 503.')
    version: str
    corpus_version: str | None = Field(description="Changes with everything that is published; None: not built.")
    model: str = Field(description="What answers: extractive, or provider:model.")
    n_papers: int
    n_chunks: int
    n_waiting: int = Field(description="Questions that are answered now or wait for their turn.")
    last_evaluation: dict[str, float | None] | None


@router.get("/health")
def health(shared: SharedDep) -> Health:
    """Whether questions can be asked, and of what."""
    settings, facts = shared.settings, shared.facts.now()
    history = read_history(settings.paths.evaluation / "history.jsonl")
    return Health(
        status="not built" if facts.version is None else "ready",
        version=version("rag_assets"),
        corpus_version=facts.version,
        model=settings.answering.model,
        n_papers=facts.n_papers,
        n_chunks=facts.n_chunks,
        n_waiting=shared.answering.n_inside,
        last_evaluation=history[-1]["metrics"] if history else None,
    )
