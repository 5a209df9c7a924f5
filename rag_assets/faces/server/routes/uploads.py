"""Papers that come, go and come back: what comes and goes is changed at once, and a run brings the index up to date."""

from http import HTTPStatus

from fastapi import APIRouter, UploadFile
from pydantic import BaseModel, Field

from rag_assets.faces.server.dependencies import SharedDep, counts_as_upload

router = APIRouter(prefix="/api", tags=["papers"], dependencies=[counts_as_upload])
_RUN = Field(description="The run after which questions see the change; see GET /api/runs/{run_id}.")


class Uploaded(BaseModel):
    """A file that was taken in."""

    paper_id: str
    file_name: str = Field(description="Under which it is kept.")
    is_new: bool = Field(description="False where it joins a paper that has files of other formats.")
    run_id: str = _RUN


class Deleted(BaseModel):
    """A paper that is in the trash."""

    paper_id: str
    trash_id: str = Field(description="Undoes it: POST /api/trash/{trash_id}/restore.")
    run_id: str = _RUN


class Restored(BaseModel):
    """A paper that is back."""

    paper_id: str
    run_id: str = _RUN


class Deletion(BaseModel):
    """A paper that was deleted and can be had back."""

    trash_id: str = Field(description="Undoes it: POST /api/trash/{trash_id}/restore.")
    paper_id: str
    files: list[str] = Field(description="From the papers folder.")


class DeletionList(BaseModel):
    """What lies in the trash."""

    deletions: list[Deletion] = Field(description="Newest first.")


@router.post("/papers", status_code=HTTPStatus.ACCEPTED)
async def upload(file: UploadFile, shared: SharedDep) -> Uploaded:
    """Add a paper. What the file holds decides whether it is one, not its name."""
    name, content = file.filename or "", file.file
    uploaded, run_id = await shared.changing.result(lambda: shared.changes.add(name, content))
    return Uploaded(paper_id=uploaded.paper_id, file_name=uploaded.file_name, is_new=uploaded.is_new, run_id=run_id)


@router.delete("/papers/{paper_id}", status_code=HTTPStatus.ACCEPTED)
async def delete(paper_id: str, shared: SharedDep) -> Deleted:
    """Move a paper with all its files to the trash."""
    trashed, run_id = await shared.changing.result(lambda: shared.changes.discard(paper_id))
    return Deleted(paper_id=trashed.paper_id, trash_id=trashed.trash_id, run_id=run_id)


@router.get("/trash")
async def trash(shared: SharedDep) -> DeletionList:
    """The deletions that can be undone."""
    kept = await shared.changing.result(shared.changes.deletions)
    return DeletionList(
        deletions=[Deletion(trash_id=one.trash_id, paper_id=one.paper_id, files=list(one.files)) for one in kept]
    )


@router.post("/trash/{trash_id}/restore", status_code=HTTPStatus.ACCEPTED)
async def restore(trash_id: str, shared: SharedDep) -> Restored:
    """Undo a deletion."""
    restored, run_id = await shared.changing.result(lambda: shared.changes.restore(trash_id))
    return Restored(paper_id=restored.paper_id, run_id=run_id)
