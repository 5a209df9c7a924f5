"""Everything that Dagster loads, as lists; `build_defs` puts them together."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from rag_assets.core.errors import InvalidSettings, MissingExtra
from rag_assets.core.settings import Settings, load_settings
from rag_assets.pipeline.assets.automation import (
    JOBS,
    corpus_sensor,
    failure_sensors,
    nightly_schedule,
    weekly_verification,
)
from rag_assets.pipeline.assets.chunk_stats import chunk_stats
from rag_assets.pipeline.assets.chunks import chunks, passages, profiles, references, summaries
from rag_assets.pipeline.assets.corpus import blocks, papers, parsed_index
from rag_assets.pipeline.assets.evaluation import smoke_eval
from rag_assets.pipeline.assets.index import bm25_index, chroma_index, index_meta
from rag_assets.pipeline.assets.qa import qa
from rag_assets.pipeline.assets.reports import reports
from rag_assets.pipeline.assets.resources import run_engine, run_models, run_settings, run_workforce
from rag_assets.pipeline.assets.sources import PAPER_FILES, QUESTIONS, TEMPLATES
from rag_assets.pipeline.assets.vectors import embeddings

logger = logging.getLogger(__name__)
_OWNERS = ["team:rag_assets"]
SOURCES = [PAPER_FILES, QUESTIONS, TEMPLATES]
ASSETS = [
    parsed_index,
    papers,
    blocks,
    chunks,
    chunk_stats,
    summaries,
    passages,
    profiles,
    references,
    embeddings,
    chroma_index,
    bm25_index,
    index_meta,
    qa,
    reports,
    smoke_eval,
]


def build_defs(*, overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The project's definitions; `overrides` are settings that win over file and environment.

    They load even with wrong settings: a run, the sensor and the schedule read the settings again
    when they need them.
    """
    settings = _settings_now(overrides)
    verification, weekly = weekly_verification(overrides)
    return dg.Definitions(
        assets=[*SOURCES, *_with_owner_and_source()],
        jobs=[*JOBS, verification],
        sensors=[corpus_sensor(overrides), *_failure_sensors(settings.automation.notify)],
        schedules=[nightly_schedule(settings.automation, overrides), weekly],
        resources={
            "settings": run_settings(settings, overrides),
            "models": run_models,
            "workforce": run_workforce,
            "engine": run_engine,
        },
        executor=dg.in_process_executor,
    )


def _with_owner_and_source() -> Sequence[Any]:
    """The assets, each with a link to its code and with whom to ask about it."""
    owned = dg.map_asset_specs(lambda spec: spec.replace_attributes(owners=_OWNERS), ASSETS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        return dg.with_source_code_references(owned)


def _settings_now(overrides: Mapping[str, Any] | None) -> Settings:
    """The settings as they are when the definitions load; the defaults while they are wrong."""
    try:
        return load_settings(overrides)
    except InvalidSettings as error:
        logger.warning("%s", error)
        return Settings.model_construct()


def _failure_sensors(targets: Sequence[str]) -> list[dg.SensorDefinition]:
    try:
        return failure_sensors(targets)
    except (InvalidSettings, MissingExtra) as error:
        logger.warning("Nobody is told of runs that fail: %s", error)
        return []


defs = build_defs()
