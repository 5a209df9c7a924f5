"""The sources of the pipeline as nodes of the graph: papers, questions and templates, with their
observed versions.

A version is told at the start of every run and by the sensor: that of the papers from names, sizes
and times of change, that of questions and templates from their content, as a file that was only
copied or saved again leaves the answers current.
A new version is reported to Dagster as a materialization: no other event of an external asset makes
Dagster show what is out of date.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import dagster as dg

from rag_assets.core.incremental import file_sha256, fingerprint
from rag_assets.core.settings import Settings
from rag_assets.parsing.discovery import INDEX_NAME, library_files, manifest_hash, manifest_of
from rag_assets.parsing.paper_lists import find_papers, list_to_adopt
from rag_assets.reports import template_files

SOURCE_NAMES = ("paper_files", "questions", "templates")
_DATA_DIR = "data_dir"
_LOOKED_BACK = 100
"""Reports, of all folders that share the history."""
PAPER_FILES = dg.AssetSpec(
    "paper_files",
    group_name="corpus",
    description="The files of the papers, bibliographies, and the list of papers if there is one. Put there by you.",
    kinds={"file"},
)
QUESTIONS = dg.AssetSpec(
    "questions",
    group_name="answers",
    description="The question file, by default `data/questions/smoke.jsonl`. Put there by you.",
    kinds={"file"},
)
TEMPLATES = dg.AssetSpec(
    "templates",
    group_name="answers",
    description="Templates of reports, `data/templates/*.md` and `*.json`. Put there by you.",
    kinds={"file"},
)


def observed_versions(settings: Settings) -> dict[str, str]:
    """Version by source, as the module says. Raises MissingInput when there is no papers
    folder."""
    return {
        "paper_files": _papers_version(settings),
        "questions": _content_version([settings.question_file]),
        "templates": _content_version(template_files(settings.paths.templates)),
    }


def news(
    settings: Settings, versions: Mapping[str, str], known: Mapping[str, str]
) -> list[dg.AssetMaterialization]:
    """The events that report the versions which Dagster does not know yet."""
    places = {
        "paper_files": settings.paper_list_file or settings.paths.papers,
        "questions": settings.question_file,
        "templates": settings.paths.templates,
    }
    return [
        dg.AssetMaterialization(
            name,
            metadata={
                "path": dg.MetadataValue.path(places[name].absolute()),
                _DATA_DIR: str(settings.data_dir.resolve()),
            },
            tags={"dagster/data_version": version},
        )
        for name, version in versions.items()
        if known.get(name) != version
    ]


def known_versions(instance: dg.DagsterInstance, data_dir: Path) -> dict[str, str]:
    """The version of each source that was reported last for this folder, as several may share a
    history; sources that were never reported are left out."""
    known: dict[str, str] = {}
    for name in SOURCE_NAMES:
        for record in instance.fetch_materializations(
            dg.AssetKey(name), limit=_LOOKED_BACK
        ).records:
            made = record.asset_materialization
            folder = made and made.metadata.get(_DATA_DIR)
            if made and made.tags and folder and folder.value == str(data_dir.resolve()):
                known.setdefault(name, made.tags["dagster/data_version"])
    return known


def _content_version(files: Sequence[Path]) -> str:
    return fingerprint(
        *([file.name, file_sha256(file)] for file in sorted(files) if file.is_file())
    )


def _papers_version(settings: Settings) -> str:
    """The version of the papers folder, or of the list of papers and the files that it names."""
    paths, named = settings.paths, settings.paper_list_file
    if waiting := list_to_adopt(paths.parsed_index, paths.papers, named):
        return manifest_of([waiting])
    listing = named or paths.papers / INDEX_NAME
    if named is None and not listing.exists():
        return manifest_hash(paths.papers)
    papers = find_papers(paths.papers, named, settings.parsing.limits)
    libraries = [paths.papers / name for name in library_files(paths.papers)]
    return manifest_of(
        [listing, *libraries, *(file.path for paper in papers for file in paper.files)]
    )
