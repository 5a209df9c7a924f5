"""POST /api/tables: questions asked of every paper, a row each, as a stream of events or whole as
JSON."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from rag_assets.core.domain import Citation
from rag_assets.core.errors import InvalidTemplate
from rag_assets.faces.server.dependencies import SharedDep, Where, counts_as_question
from rag_assets.faces.server.problems import invalid_request
from rag_assets.faces.server.workers import Named, event_stream, replied
from rag_assets.questions import MAX_QUESTION_CHARS
from rag_assets.reports.renderings import as_csv, as_markdown, as_xlsx, counts_sentence, reasons_of
from rag_assets.reports.report import CitedClaim, Report
from rag_assets.reports.templates import Template, columns_of, template_of_table
from rag_assets.reports.update import ReportWriter

router = APIRouter(prefix="/api", tags=["ask"])
MAX_CELLS = 1_000
_EVENTS = "asked (done, of: cells), then done (as the JSON reply) or error (a problem)."


QuestionText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARS)]


class TableRequest(Where):
    columns: (
        dict[Annotated[str, Field(min_length=1, max_length=200)], QuestionText] | list[QuestionText]
    ) = Field(
        min_length=1,
        max_length=20,
        description='The question by the name of its column; or a list of questions, each alone or as "NAME=Question".',
    )


class AnswerCell(BaseModel):
    text: str = Field(description="The verified statement; empty where the paper does not say it.")
    citations: list[Citation] = Field(
        description="Its quotes, as in `claims[].citations[]` of qa.jsonl."
    )
    reason: str = Field(description="Why the cell is empty.")


class PaperAnswers(BaseModel):
    paper_id: str
    title: str
    cells: list[AnswerCell] = Field(description="In the order of the columns.")


class TableReply(BaseModel):
    """The data of the event `done`, and the reply when no stream is asked for."""

    columns: list[str]
    rows: list[PaperAnswers]
    counts: str = Field(description="How many papers have an answer in each column, in words.")
    files: dict[str, str] = Field(
        description="The table as csv, xlsx and md: the bytes of the file in Base64."
    )


@router.post(
    "/tables",
    dependencies=[counts_as_question],
    response_model=TableReply,
    responses=event_stream(_EVENTS),
)
async def table(body: TableRequest, request: Request, shared: SharedDep) -> Response:
    """Ask questions of every paper that passes the filter: at most 1,000 cells, each a verified
    quote with its page, or the reason why there is none. A table takes the place of one answer at a
    time."""

    def rendered() -> Iterator[Named]:
        template = _template(body, len(shared.engine.papers(body.filter())))
        for step in ReportWriter(shared.engine, shared.settings).in_steps(template):
            if isinstance(step, Report):
                yield "done", _reply(step).model_dump()
            else:
                yield "asked", {"done": step[0], "of": step[1]}

    return await replied(shared.answering.events(rendered), request)


def _template(body: TableRequest, n_papers: int) -> Template:
    n_cells = n_papers * len(body.columns)
    if not 0 < n_cells <= MAX_CELLS:
        raise invalid_request(
            f"{n_papers} papers pass the filter and {len(body.columns)} questions are asked. A table has 1 to "
            f"{MAX_CELLS} cells: choose other papers, or make it with rag-assets table."
        )
    where = body.filter()
    try:
        columns = columns_of(body.columns) if isinstance(body.columns, list) else body.columns
        return template_of_table(columns, str(where) if where else None)
    except InvalidTemplate as error:
        raise invalid_request(str(error)) from error


def _reply(report: Report) -> TableReply:
    (section,) = report.sections
    # the question stands above its column, and not again in each cell that has no answer
    gaps = tuple(replace(gap, searched=gap.missing) for gap in section.gaps)
    shown = replace(section, gaps=gaps)
    rows = [
        PaperAnswers(
            paper_id=row.paper_id,
            title=report.titles.get(row.paper_id, ""),
            cells=[
                _cell(claims, reason)
                for claims, reason in zip(row.cells, reasons_of(row, shown), strict=True)
            ],
        )
        for row in section.rows
    ]
    files = {"csv": as_csv(report), "xlsx": as_xlsx(report), "md": as_markdown(report).encode()}
    return TableReply(
        columns=list(section.labels),
        rows=rows,
        counts=counts_sentence(section),
        files={kind: b64encode(content).decode() for kind, content in files.items()},
    )


def _cell(claims: tuple[CitedClaim, ...], reason: str) -> AnswerCell:
    return AnswerCell(
        text=" ".join(claim.said for claim in claims),
        citations=[quote.citation for claim in claims for quote in claim.evidence],
        reason="" if claims else reason,
    )
