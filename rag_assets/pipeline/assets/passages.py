"""Asset `passages`: what is searched, cut from the chunks to what the embedding model reads."""

import dagster as dg

from rag_assets.core.promises import check_all
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import published_or_empty, required_table
from rag_assets.core.tables import PASSAGES, SUMMARIES
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION
from rag_assets.corpus.chunking.promises import PASSAGE_PROMISES, QUARANTINED_KEY, PassagesCandidate, QuarantinedPaper
from rag_assets.corpus.chunking.updates import AddedText, ReadingWindow, update_passages
from rag_assets.pipeline.assets.checks import specs
from rag_assets.pipeline.assets.publishing import Outcome, TableUpdate
from rag_assets.pipeline.assets.reporting import histogram
from rag_assets.pipeline.assets.summaries import summaries, titles_by_paper
from rag_assets.search.embedding.providers import open_embedder


@dg.asset(
    group_name="index",
    deps=[summaries],
    metadata={"also_reads": "parsed_index, chunks"},
    check_specs=specs("passages", PASSAGE_PROMISES),
    output_required=False,
    code_version=str(PASSAGER_VERSION),
    kinds={"parquet"},
)
def passages(settings: dg.ResourceParam[Settings]) -> Outcome:
    """What is searched: runs of sentences that the embedding model reads in full; `data/cache/passages.parquet`."""
    paths = settings.paths
    embedder = open_embedder(settings.embedding, paths.models)
    facts = embedder.facts
    window = ReadingWindow(facts.tokenizer_id, embedder.count_tokens, facts.max_tokens)
    chunks_table = required_table(paths.chunks)
    published = published_or_empty(paths.passages, PASSAGES)
    updated, plan, quarantined = update_passages(
        published.table,
        chunks_table,
        settings.passages,
        window,
        quarantined=QuarantinedPaper.all_from(published.provenance),
        added=AddedText(titles_by_paper(paths), _summaries(paths)),
    )
    provenance = {
        "settings": settings.passages.fingerprint(),
        "tokenizer": facts.tokenizer_id,
        QUARANTINED_KEY: [paper.as_row() for paper in quarantined],
    }
    update = TableUpdate(paths.passages, updated, plan, published, provenance)
    yield from update.audited(
        check_all(PASSAGE_PROMISES, PassagesCandidate(updated, facts.max_tokens, quarantined)),
        {"passages": settings.passages, "embedding": settings.embedding},
        facts={"n_quarantined": len(quarantined)},
        previews={"token_histogram": histogram(updated["n_tokens"].to_pylist(), unit="tokens")},
    )


def _summaries(paths: Paths) -> dict[str, str]:
    """By chunk_id; empty where there are none yet."""
    table = published_or_empty(paths.summaries, SUMMARIES).table
    return dict(zip(table["chunk_id"].to_pylist(), table["summary"].to_pylist(), strict=True))
