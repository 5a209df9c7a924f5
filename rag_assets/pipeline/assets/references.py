"""Asset `references`: the works that each paper cites, and the sentences that refer to them."""

import dagster as dg
import pyarrow.compute as pc

from rag_assets.core.paper_tables import PaperTable
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.tables import BLOCKS, REFERENCES
from rag_assets.core.workforce.seam import Workforce, within
from rag_assets.corpus.each_paper import EachPaperCandidate
from rag_assets.corpus.references.update import (
    REFERENCE_PROMISES,
    REFERENCES_VERSION,
    update_references,
)
from rag_assets.pipeline.assets import corpus
from rag_assets.pipeline.assets.paper_assets import TableAudit, brought_up_to_date
from rag_assets.pipeline.assets.previews import markdown_table
from rag_assets.pipeline.assets.publishing import Outcome, specs

N_SHOWN = 20


@dg.asset(
    group_name="index",
    deps=[corpus.blocks],
    check_specs=specs("references", REFERENCE_PROMISES),
    output_required=False,
    code_version=str(REFERENCES_VERSION),
    kinds={"parquet"},
)
def references(
    settings: dg.ResourceParam[Settings], workforce: dg.ResourceParam[Workforce]
) -> Outcome:
    """The entries of every reference list, and where the text refers to them;
    `data/cache/references.parquet`.

    An answer says of a quoted sentence whether it reports the works it refers to.
    """
    paths = settings.paths
    blocks = PaperTable.required(paths.blocks, BLOCKS)

    def audit(draft: PaperTable) -> TableAudit:
        entries = draft.columns(["number", "mentions"])
        entries = entries.filter(pc.is_valid(entries["number"]))
        n_mentioned = pc.sum(pc.greater(pc.list_value_length(entries["mentions"]), 0)).as_py() or 0
        facts = {
            "n_entries": len(entries),
            "n_mentioned": n_mentioned,
            "n_papers_without_list": draft.n_rows - len(entries),
        }
        first = next(draft.parts(["paper_id", "number", "year", "doi", "text"]))
        first = first.filter(pc.is_valid(first["number"])).slice(0, N_SHOWN).to_pylist()
        return TableAudit(
            check_all(
                REFERENCE_PROMISES,
                EachPaperCandidate(draft.papers, blocks.papers, draft.manifest.quarantined),
            ),
            facts,
            {"entries": markdown_table(first, n_shown=N_SHOWN)},
        )

    yield from brought_up_to_date(
        PaperTable.published(paths.references, REFERENCES),
        lambda published: update_references(
            published, blocks, within(settings.parsing.limits, workforce)
        ),
        audit,
        provenance={"references": REFERENCES_VERSION},
        follows_from=[blocks.checksums],
    )
