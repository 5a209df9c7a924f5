"""Which profiles must be made anew, and the table that results."""

from collections.abc import Callable
from dataclasses import asdict

import pyarrow as pa

from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.tables import (
    PROFILES,
    blocks_from,
    fingerprints_by,
    map_papers,
    merged,
    rows_of,
    rows_without,
    to_table,
)
from rag_assets.corpus.profiles.profile import PROFILER_VERSION, profile_of

_MOST_BLOCKS = 200
"""A first page has fewer."""


def update_profiles(
    published: pa.Table, index: pa.Table, made_of: pa.Table, read_blocks: Callable[[], pa.Table]
) -> tuple[pa.Table, UpdatePlan]:
    """Bring the profiles up to date with the papers that have blocks.

    `published`: schema PROFILES. `index`: paper_id and title of all papers. `made_of`: paper_id and fingerprint of the
    blocks. `read_blocks`: gives the whole blocks, schema BLOCKS, sorted by paper, a paper's rows in order; called only
    if a profile must be made. Returns the new table, sorted by paper, and the plan.
    """
    wanted = {
        paper: fingerprint(version, PROFILER_VERSION) for paper, version in fingerprints_by(made_of, "paper_id").items()
    }
    plan = plan_update(fingerprints_by(published, "paper_id"), wanted)
    if plan.is_noop:
        return published, plan
    titles = dict(zip(index["paper_id"].to_pylist(), index["title"].to_pylist(), strict=True))

    def row(paper_id: str, own: pa.Table) -> dict[str, object]:
        profile = profile_of(paper_id, titles.get(paper_id) or "", blocks_from(own.slice(0, _MOST_BLOCKS)))
        return asdict(profile) | {"fingerprint": wanted[paper_id]}

    made = map_papers(rows_of(read_blocks(), "paper_id", plan.to_build), row) if plan.to_build else []
    kept = rows_without(published, "paper_id", plan.to_drop)
    return merged(kept, to_table(made, PROFILES), ["paper_id"]), plan
