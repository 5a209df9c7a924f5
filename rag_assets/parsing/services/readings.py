"""What services make of PDFs that have no better file beside them, as further files of their papers.

A reading stands before its PDF: the reader of its format reads it, pages that it lacks come from the PDF, and where it
fails, the PDF is read. It is kept until the PDF is gone.
"""

from collections.abc import Sequence
from dataclasses import replace

from rag_assets.parsing.attempts import Attempt, ParseJob, Report, fingerprinted, is_pdf
from rag_assets.parsing.discovery import Paper, PaperFile


def with_readings(papers: Sequence[Paper], job: ParseJob, report: Report) -> list[Paper]:
    """The examined papers with the readings of the services that the settings name.

    `report(n_done, n_total)` counts the PDFs that are sent to one service. Raises what `asking.ask` raises.
    """
    hashes = {file.sha256 for paper in papers for file in paper.files}
    if gone := [key for key in job.store.readings.keys() if key.partition(".")[0] not in hashes]:  # noqa: SIM118
        job.store.readings.drop(gone)
    if not (job.settings.grobid or job.settings.docling):
        return list(papers)
    from rag_assets.parsing.services.asking import ask  # loads the HTTP client

    best = {paper.paper_id: Attempt(paper).past_unusable().file for paper in papers}
    pdfs = {paper_id: file for paper_id, file in best.items() if file and is_pdf(file)}
    readings = ask({pdf.sha256: pdf for pdf in pdfs.values()}, job.settings, job.store, report)

    def completed(paper: Paper, pdf: PaperFile) -> Paper:
        at = paper.files.index(pdf)
        mine = (replace(one, path=pdf.path, relative=pdf.relative) for one in readings[pdf.sha256])
        return fingerprinted(replace(paper, files=(*paper.files[:at], *mine, *paper.files[at:])), job.settings)

    return [completed(paper, pdfs[paper.paper_id]) if paper.paper_id in pdfs else paper for paper in papers]
