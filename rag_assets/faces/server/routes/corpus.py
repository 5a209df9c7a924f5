"""What is served, and how it changes: health, uploads, deletions, and the runs that bring the index
up to date."""

from dataclasses import asdict
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Literal

from fastapi import APIRouter, Query, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.core.domain import Record
from rag_assets.core.incremental import read_sealed
from rag_assets.core.text.works import normal_doi
from rag_assets.corpus.records.byline import person_of
from rag_assets.evaluation.history import read_history
from rag_assets.faces.server.dependencies import SharedDep, counts_as_upload
from rag_assets.library.paper_uploads import correct
from rag_assets.pipeline.runs.requests import RunProgress

router = APIRouter(prefix="/api")
_ALL_PAPERS = "Empty for all papers at once."
_UNDONE_BY = Field(description="Undoes it: POST /api/trash/{trash_id}/restore.")


class Health(BaseModel):
    status: Literal["ready", "not built"] = Field(
        description='"not built": nothing can be asked; questions get a problem that says why.'
    )
    version: str
    corpus_version: str | None = Field(
        description="Changes with everything that is published; None: not built."
    )
    model: str = Field(description="What answers: extractive, or provider:model.")
    n_papers: int
    n_chunks: int
    n_waiting: int = Field(description="Questions that are answered now or wait for their turn.")
    last_evaluation: dict[str, float | None] | None
    topics: list[str] = Field(
        description="Phrases of the papers' titles that their texts use most."
    )
    examples: list[str] = Field(
        description="Questions that the papers answer, asked when the index was made."
    )


@router.get("/health", tags=["server"])
def health(shared: SharedDep) -> Health:
    """Whether questions can be asked, and of what."""
    paths = shared.settings.paths
    history = read_history(paths.evaluation_history)
    index, stats, examples = (
        read_sealed(file) or {} for file in (paths.index_meta, paths.chunk_stats, paths.examples)
    )
    return Health(
        status="ready" if shared.engine.is_ready else "not built",
        version=version("rag_assets"),
        corpus_version=index.get("version"),
        model=shared.settings.answering.model,
        n_papers=shared.reader.n_parsed(),
        n_chunks=stats.get("n_chunks", 0),
        n_waiting=shared.answering.n_inside,
        last_evaluation=history[-1]["metrics"] if history else None,
        topics=examples.get("topics", []),
        examples=examples.get("questions", []),
    )


class ChangedPaper(BaseModel):
    """A paper that was corrected or is back."""

    paper_id: str = Field(description=_ALL_PAPERS)
    run_id: str = Field(
        description="The run after which questions see the change; see GET /api/runs/{run_id}."
    )


class Uploaded(ChangedPaper):
    """A file that was taken in."""

    file_name: str = Field(description="Under which it is kept.")
    is_new: bool = Field(
        description="False where it joins a paper that has files of other formats."
    )


class Deleted(ChangedPaper):
    """A paper that is in the trash."""

    trash_id: str = _UNDONE_BY


class Deletion(BaseModel):
    """A paper that was deleted and can be had back."""

    trash_id: str = _UNDONE_BY
    paper_id: str = Field(description=_ALL_PAPERS)
    files: list[str] = Field(description="From the papers folder.")


class DeletionList(BaseModel):
    """What lies in the trash."""

    deletions: list[Deletion] = Field(description="Newest first.")


@router.post(
    "/papers", status_code=HTTPStatus.ACCEPTED, tags=["papers"], dependencies=[counts_as_upload]
)
async def upload(file: UploadFile, shared: SharedDep) -> Uploaded:
    """Add a paper. What the file holds decides whether it is one, not its name."""
    name, content = file.filename or "", file.file
    uploaded, run_id = await shared.changed(lambda: shared.paper_uploads.add(name, content))
    return Uploaded(**asdict(uploaded), run_id=run_id)


class Correction(BaseModel):
    """What a person knows better. A field that is left out or empty stays as it is."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="", max_length=2000)
    authors: list[Annotated[str, Field(min_length=1, max_length=300)]] = Field(
        default=[], max_length=5000, description='In order: "Ada Lund" or "Lund, Ada".'
    )
    year: int | None = Field(default=None, ge=1000, le=2999)
    doi: str = Field(default="", max_length=300, pattern=r"^$|10\.\d{4,9}/\S")


@router.put(
    "/papers/{paper_id}/record",
    status_code=HTTPStatus.ACCEPTED,
    tags=["papers"],
    dependencies=[counts_as_upload],
)
async def correct_record(paper_id: str, correction: Correction, shared: SharedDep) -> ChangedPaper:
    """Correct the record of a paper: these values win over all others, also in later runs."""
    record = Record(
        title=correction.title.strip() or None,
        authors=tuple(map(person_of, correction.authors)),
        year=correction.year,
        doi=normal_doi(correction.doi),
    )
    _, run_id = await shared.changed(lambda: correct(shared.settings, paper_id, record))
    return ChangedPaper(paper_id=paper_id, run_id=run_id)


@router.delete(
    "/papers/{paper_id}",
    status_code=HTTPStatus.ACCEPTED,
    tags=["papers"],
    dependencies=[counts_as_upload],
)
async def delete(paper_id: str, shared: SharedDep) -> Deleted:
    """Move a paper with all its files to the trash."""
    trashed, run_id = await shared.changed(lambda: shared.trash.discard(paper_id))
    return Deleted(paper_id=trashed.paper_id, trash_id=trashed.trash_id, run_id=run_id)


@router.delete(
    "/papers", status_code=HTTPStatus.ACCEPTED, tags=["papers"], dependencies=[counts_as_upload]
)
async def delete_all(
    shared: SharedDep,
    confirm: Annotated[
        str, Query(max_length=100, description='"delete 17 papers", with their number.')
    ],
) -> Deleted:
    """Move all papers with their files to the trash, as one deletion."""
    trashed, run_id = await shared.changed(lambda: shared.trash.discard_all(confirm))
    return Deleted(paper_id="", trash_id=trashed.trash_id, run_id=run_id)


@router.get("/trash", tags=["papers"], dependencies=[counts_as_upload])
async def trash(shared: SharedDep) -> DeletionList:
    """The deletions that can be undone."""
    deletions = await shared.changing.result(shared.trash.deletions)
    return DeletionList(
        deletions=[
            Deletion(
                trash_id=deletion.trash_id, paper_id=deletion.paper_id, files=list(deletion.files)
            )
            for deletion in deletions
        ]
    )


@router.post(
    "/trash/{trash_id}/restore",
    status_code=HTTPStatus.ACCEPTED,
    tags=["papers"],
    dependencies=[counts_as_upload],
)
async def restore(trash_id: str, shared: SharedDep) -> ChangedPaper:
    """Undo a deletion."""
    restored, run_id = await shared.changed(lambda: shared.trash.restore(trash_id))
    return ChangedPaper(paper_id=restored.paper_id, run_id=run_id)


@router.get("/runs/{run_id}", tags=["papers"])
def run(run_id: str, shared: SharedDep) -> RunProgress:
    """How far a run is."""
    return shared.runs.progress(run_id)
