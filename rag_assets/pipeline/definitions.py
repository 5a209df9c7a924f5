"""Everything that Dagster loads, as lists; `build_defs` puts them together."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from rag_assets.core.errors import InvalidSettings, MissingExtra
from rag_assets.core.settings import Settings, load_settings
from rag_assets.pipeline import assets
from rag_assets.pipeline.assets.automation import (
    JOBS,
    corpus_sensor,
    failure_sensors,
    nightly,
    weekly_verification,
)
from rag_assets.pipeline.assets.resources import run_engine, run_models, run_settings, run_workforce
from rag_assets.pipeline.assets.sources import PAPER_FILES, QUESTIONS, TEMPLATES

logger = logging.getLogger(__name__)
ASSETS: Sequence[Any] = dg.load_assets_from_package_module(assets)
"""Those of all modules of the package."""
_OWNERS = ["team:rag_assets"]
_EACH_NIGHT = ("qa", "smoke_eval")
"""Assets that are overdue when a night was missed."""


def build_defs(*, overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The project's definitions; `overrides` are settings that win over file and environment.

    They load even with wrong settings: a run, the sensor and the schedule read the settings again
    when they need them.
    """
    settings = _settings_now(overrides)
    verification, weekly = weekly_verification(overrides)
    schedule, each_night = nightly(settings.automation, overrides)
    return dg.Definitions(
        assets=[PAPER_FILES, QUESTIONS, TEMPLATES, *_described(each_night)],
        jobs=[*JOBS, verification],
        sensors=[corpus_sensor(overrides), *_failure_sensors(settings.automation.notify)],
        schedules=[schedule, weekly],
        resources={
            "settings": run_settings(settings, overrides),
            "models": run_models,
            "workforce": run_workforce,
            "engine": run_engine,
        },
        executor=dg.in_process_executor,
    )


def _described(each_night: dg.FreshnessPolicy) -> Sequence[Any]:
    """The assets, each with whom to ask about it, a link to its code, and whether each night makes
    it."""

    def described(spec: dg.AssetSpec) -> dg.AssetSpec:
        spec = spec.replace_attributes(owners=_OWNERS)
        is_nightly = spec.key.to_user_string() in _EACH_NIGHT
        return spec.replace_attributes(freshness_policy=each_night) if is_nightly else spec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        return dg.with_source_code_references(dg.map_asset_specs(described, ASSETS))


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
