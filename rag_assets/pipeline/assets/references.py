"""Asset `references`: the works that each paper cites, and the sentences that refer to them."""

import dagster as dg
import pyarrow.compute as pc

from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import published_or_empty, read_columns, required_table
from rag_assets.core.tables import REFERENCES
from rag_assets.core.workforce.seam import Workforce, within
from rag_assets.corpus.chunking.promises import QUARANTINED_KEY, QuarantinedPaper
from rag_assets.corpus.references.update import (
    REFERENCE_PROMISES,
    REFERENCES_VERSION,
    ReferencesCandidate,
    update_references,
)
from rag_assets.pipeline.assets import corpus
from rag_assets.pipeline.assets.previews import markdown_table
from rag_assets.pipeline.assets.publishing import Outcome, TableUpdate, specs

N_SHOWN = 20


@dg.asset(
    group_name="index",
    deps=[corpus.blocks],
    check_specs=specs("references", REFERENCE_PROMISES),
    output_required=False,
    code_version=str(REFERENCES_VERSION),
    kinds={"parquet"},
)
def references(settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]) -> Outcome:
    """The entries of every reference list, and where the text refers to them; `data/cache/references.parquet`.

    An answer says of a quoted sentence whether it reports the works it refers to.
    """
    paths = settings.paths
    made_of = read_columns(paths.blocks, ["paper_id", "fingerprint"])
    published = published_or_empty(paths.references, REFERENCES)
    spread = within(settings.parsing.limits, workforce)
    before = QuarantinedPaper.all_from(published.provenance)
    updated, plan, quarantined = update_references(
        published.table, made_of, lambda: required_table(paths.blocks), spread, before
    )
    provenance = {"references": REFERENCES_VERSION, QUARANTINED_KEY: [paper.as_row() for paper in quarantined]}
    update = TableUpdate(paths.references, updated, plan, published, provenance)
    entries = updated.filter(pc.is_valid(updated["number"]))
    n_mentioned = pc.sum(pc.greater(pc.list_value_length(entries["mentions"]), 0)).as_py() or 0
    yield from update.audited(
        check_all(REFERENCE_PROMISES, ReferencesCandidate(updated, made_of, quarantined)),
        {},
        facts={
            "n_entries": len(entries),
            "n_mentioned": n_mentioned,
            "n_papers_without_list": len(updated) - len(entries),
        },
        previews={"entries": markdown_table(_shown(entries.slice(0, N_SHOWN).to_pylist()), n_shown=N_SHOWN)},
    )


def _shown(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{name: row[name] for name in ("paper_id", "number", "year", "doi", "text")} for row in rows]
