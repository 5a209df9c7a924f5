"""Asset `reports`: the report of every template, its sections written again only where their
evidence changed."""

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.answering.records import AuditedRun, read_results
from rag_assets.core.errors import InvalidTemplate, MissingInput
from rag_assets.core.incremental import UpdatePlan, data_version, plan_update, read_sealed, staging
from rag_assets.core.promises import check_all, nothing_withholds
from rag_assets.core.settings import Paths, Settings
from rag_assets.engine import CODE_VERSION, Engine
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.corpus import parsed_index
from rag_assets.pipeline.assets.index import ASKED
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    checked_asset,
    now,
    progress,
)
from rag_assets.pipeline.assets.qa import audit
from rag_assets.pipeline.assets.resources import OpenEngine
from rag_assets.pipeline.assets.sources import TEMPLATES
from rag_assets.reports.renderings import as_markdown
from rag_assets.reports.templates import load_template, template_files
from rag_assets.reports.update import (
    REPORT_PROMISES,
    REPORTS_VERSION,
    ReportFiles,
    ReportsCandidate,
    ReportUpdate,
    ReportWriter,
    is_sound,
    section_fingerprints,
)


@checked_asset(
    "answers",
    REPORT_PROMISES,
    deps=[TEMPLATES, parsed_index, *ASKED],
    kinds={"markdown"},
    version=f"reports {REPORTS_VERSION}, {CODE_VERSION}",
)
def reports(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
    engine: dg.ResourceParam[OpenEngine],
) -> Outcome:
    """One report per template in `data/templates/`: verified claims, tables, gaps, evidence;
    `data/output/reports/`."""

    def make() -> Made:
        updates, unusable = _updates(engine(), settings)
        return _made(updates, unusable, settings, context.run.run_id)

    groups = ["retrieval", "answering"]
    yield from asset_step(
        settings.paths.reports, make, settings=groups, models=models, counted="sections"
    )


def _made(
    updates: list[ReportUpdate],
    unusable: dict[str, str],
    settings: Settings,
    run_id: str,
) -> Made:
    paths = settings.paths
    checked = check_all(REPORT_PROMISES, ReportsCandidate(updates, unusable))
    unchanged = {
        *unusable,
        *(update.files.template.name for update in updates if not is_sound(update)),
    }
    sound = [update for update in updates if update.files.template.name not in unchanged]
    _log(updates, sound if nothing_withholds(checked) else [], paths, run_id)
    before = _published_sections(paths)
    stay = {Path(name).stem for name in unchanged}
    kept = {key: version for key, version in before.items() if key.partition("/")[0] in stay}
    sections = kept | _sections(sound)
    plan = plan_update(before, sections)

    def publish() -> dict[str, int]:
        _publish(sound, unchanged, paths)
        return plan.counts()

    texts = {update.files.text: as_markdown(update.report) for update in sound}
    return Made(
        data_version(
            {file.name: hashlib.sha256(text.encode()).hexdigest() for file, text in texts.items()}
        ),
        len(sections),
        checked,
        publish,
        _facts(sound, plan),
        {file.stem: text for file, text in texts.items()},
    )


def _facts(updates: list[ReportUpdate], plan: UpdatePlan) -> dict[str, Any]:
    written = [section for update in updates for section in update.report.sections]
    return {
        "n_reports": len(updates),
        "n_gaps": sum(len(section.gaps) for section in written),
        "n_quotes": sum(len(update.report.evidence) for update in updates),
        "sections_written": ", ".join(plan.to_build) or "none",
        "n_cached_drafts": sum(
            trace.n_cached for update in updates for trace in update.answers.traces
        ),
    }


def _updates(engine: Engine, settings: Settings) -> tuple[list[ReportUpdate], dict[str, str]]:
    """The report of every usable template, and the error of every other one by its file name."""
    updates: list[ReportUpdate] = []
    unusable: dict[str, str] = {}
    writer = ReportWriter(engine, settings)
    for path in template_files(settings.paths.templates):
        try:
            template = load_template(path)
            if template.name in {update.files.template.stem for update in updates}:
                raise InvalidTemplate(f"{path}: another template has the same name. Rename one.")
        except (InvalidTemplate, MissingInput) as error:
            unusable[path.name] = str(error)
            continue
        files = ReportFiles(path, settings.paths.reports)
        updates.append(
            writer.updated(template, files, progress(f"reports: {template.name}", "questions"))
        )
    return updates, unusable


def _sections(updates: list[ReportUpdate]) -> dict[str, str]:
    sections: dict[str, str] = {}
    for update in updates:
        sections |= section_fingerprints(update.files.template.stem, update.answers.results)
    return sections


def _published_sections(paths: Paths) -> dict[str, str]:
    sections: dict[str, str] = {}
    for answers in sorted(paths.reports.glob("*.jsonl")):
        sections |= section_fingerprints(answers.stem, read_results(answers))
    return sections


def _publish(updates: list[ReportUpdate], unchanged: Collection[str], paths: Paths) -> None:
    """unchanged: file names of the templates whose reports stay as they are."""
    with staging() as staged:
        for update in updates:
            update.stage(staged)
        staged.publish()
    current = {file for update in updates for file in update.files.all()}
    current |= {
        file
        for name in unchanged
        for file in ReportFiles(paths.templates / name, paths.reports).all()
    }
    for file in paths.reports.glob("*"):
        if file not in current and file.is_file():
            file.unlink()


def _log(
    updates: list[ReportUpdate], published: list[ReportUpdate], paths: Paths, run_id: str
) -> None:
    names = {update.files.template.name for update in published}
    index_version = (read_sealed(paths.index_meta) or {}).get("version", "")
    for update in updates:
        run = AuditedRun(now(), run_id, index_version, f"templates/{update.files.template.name}")
        audit(update.answers, paths, run, is_published=update.files.template.name in names)
