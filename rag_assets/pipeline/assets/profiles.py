"""Asset `profiles`: what identifies each paper."""

import dagster as dg

from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import published_or_empty, read_columns, required_table
from rag_assets.core.tables import PROFILES
from rag_assets.corpus.profiles import PROFILE_PROMISES, PROFILER_VERSION, ProfilesCandidate, update_profiles
from rag_assets.pipeline.assets.checks import specs
from rag_assets.pipeline.assets.corpus import blocks
from rag_assets.pipeline.assets.publishing import Outcome, TableUpdate
from rag_assets.pipeline.assets.reporting import markdown_table

_N_SHOWN = 20


@dg.asset(
    group_name="index",
    deps=[blocks],
    metadata={"also_reads": "parsed_index"},
    check_specs=specs("profiles", PROFILE_PROMISES),
    output_required=False,
    code_version=str(PROFILER_VERSION),
    kinds={"parquet"},
)
def profiles(settings: dg.ResourceParam[Settings]) -> Outcome:
    """Title, words of the file's name, first page of each paper: what a question names it by;
    `data/cache/profiles.parquet`."""
    paths = settings.paths
    index = read_columns(paths.parsed_index, ["paper_id", "title"])
    made_of = read_columns(paths.blocks, ["paper_id", "fingerprint"])
    published = published_or_empty(paths.profiles, PROFILES)

    updated, plan = update_profiles(published.table, index, made_of, lambda: required_table(paths.blocks))
    update = TableUpdate(paths.profiles, updated, plan, published, {"profiler": PROFILER_VERSION})
    first = updated.select(["paper_id", "title", "file_words", "periods"]).slice(0, _N_SHOWN).to_pylist()
    yield from update.audited(
        check_all(PROFILE_PROMISES, ProfilesCandidate(updated, made_of)),
        {},
        previews={"papers": markdown_table(first, n_shown=_N_SHOWN)},
    )
