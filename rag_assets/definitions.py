"""Everything Dagster knows about this project, as lists; `build_defs` puts them together.

What an asset does stands in `assets`, when it runs by itself in `automation`, what can be tuned in `settings`.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from rag_assets.assets.automation import corpus_sensor, everything_job, nightly_schedule
from rag_assets.assets.chunks import chunks
from rag_assets.assets.corpus import blocks, parsed_index
from rag_assets.assets.evaluation import smoke_eval
from rag_assets.assets.index import bm25_index, chroma_index, embeddings, index_meta
from rag_assets.assets.paper_summaries import paper_summaries
from rag_assets.assets.passages import passages
from rag_assets.assets.profiles import profiles
from rag_assets.assets.qa import qa
from rag_assets.assets.reports import reports
from rag_assets.assets.resources import run_models, run_settings
from rag_assets.assets.sources import PAPERS, QUESTIONS, TEMPLATES
from rag_assets.assets.summaries import summaries

SOURCES = [PAPERS, QUESTIONS, TEMPLATES]
ASSETS = [
    parsed_index,
    blocks,
    chunks,
    summaries,
    passages,
    profiles,
    embeddings,
    chroma_index,
    bm25_index,
    index_meta,
    paper_summaries,
    qa,
    reports,
    smoke_eval,
]


def build_defs(*, overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """The project's definitions; `overrides` are settings that win over file and environment.

    They load whatever the settings say: those are read when a run, the sensor or the schedule needs them.
    """
    return dg.Definitions(
        assets=[*SOURCES, *ASSETS],
        jobs=[everything_job],
        sensors=[corpus_sensor(overrides)],
        schedules=[nightly_schedule(overrides)],
        resources={"settings": run_settings(overrides), "models": run_models()},
        executor=dg.in_process_executor,
    )


defs = build_defs()
