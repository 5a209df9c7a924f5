"""GET /api/runs/{run_id}: how far a run is that the server asked for."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rag_assets.faces.server.dependencies import SharedDep
from rag_assets.pipeline.runs.requests import RunState, StepState

router = APIRouter(prefix="/api", tags=["papers"])


class Step(BaseModel):
    asset: str
    state: StepState


class Run(BaseModel):
    """How far a run is."""

    run_id: str
    state: RunState
    steps: list[Step] = Field(description="Those that began, in that order, then those that wait.")
    message: str = Field(description="How it ended or what it waits for; may be empty.")
    seconds: float = Field(description="Since it began.")


@router.get("/runs/{run_id}")
def run(run_id: str, shared: SharedDep) -> Run:
    """How far a run is."""
    found = shared.changes.progress(run_id)
    steps = [Step(asset=asset, state=state) for asset, state in found.steps.items()]
    return Run(run_id=found.run_id, state=found.state, steps=steps, message=found.message, seconds=found.seconds)
