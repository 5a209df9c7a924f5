"""What each change of the corpus, the settings and the questions recomputes, and that nothing is
left behind."""

from collections import Counter

import pyarrow.compute as pc

from rag_assets_testing.world import TOPICS, World
from rag_assets_tests.end_to_end.damage import vectors
from rag_assets_tests.kept_entries import contents
from rag_assets_tests.search.indexing.folders import indexed

ASSETS = {
    "parsed_index",
    "papers",
    "blocks",
    "statements",
    "chunks",
    "chunk_stats",
    "summaries",
    "passages",
    "profiles",
    "references",
    "embeddings",
    "chroma_index",
    "bm25_index",
    "index_meta",
    "examples",
    "qa",
    "reports",
    "smoke_eval",
}
INDEX_ASSETS = ("embeddings", "chroma_index", "bm25_index")


def assert_nothing_is_left_behind(world: World) -> None:
    """The papers of every store are those in the folder, and both indexes hold exactly the
    passages."""
    papers = {path.name.removesuffix(".tei.xml") for path in world.paths.papers.iterdir()}
    made = (
        world.paths.parsed_index,
        world.paths.blocks,
        world.paths.chunks,
        world.paths.passages,
        world.paths.profiles,
    )
    for path in made:
        assert set(world.table(path)["paper_id"].to_pylist()) == papers, path.name
    passages = set(world.table(world.paths.passages)["passage_id"].to_pylist())
    for folder in (world.paths.chroma, world.paths.bm25):
        assert set(indexed(folder)) == passages
    n_texts = len(set(world.table(world.paths.passages)["text"].to_pylist()))
    kinds = Counter(kind.split()[0] for kind, _ in vectors(world))
    assert kinds == {"vectors": n_texts, "tokens": n_texts, "papers": 1}


def test_a_second_run_changes_no_byte_and_finds_nothing_to_do(built: World, world: World) -> None:
    """Whoever leaves the nightly schedule on pays for this every night."""
    folders = (
        world.paths.cache,
        world.paths.data / "index",
        world.paths.qa,
        world.paths.evaluation,
    )

    def written() -> dict[str, str]:  # who opens an index locks it with an empty file
        files = world.bytes_of(*folders)
        return {name: hash_ for name, hash_ in files.items() if not name.endswith(".lock")}

    before = written()

    outcome = world.run()

    assert outcome.is_success
    assert written() == before
    assert outcome.counts.keys() == ASSETS
    assert {asset: counts[:3] for asset, counts in outcome.counts.items()} == dict.fromkeys(
        ASSETS, (0, 0, 0)
    )
    assert world.run().versions == outcome.versions


def test_an_edited_sentence_recomputes_its_chunk_and_nothing_else(world: World) -> None:
    """With ten thousand papers, everything else must stay as it is."""
    before = world.table(world.paths.chunks)
    world.write_paper(
        "ferritin", TOPICS["ferritin"][0], TOPICS["ferritin"][1].replace("12%", "13%")
    )

    outcome = world.run()

    for asset in ("parsed_index", "blocks", "statements", "chunks", "passages", "profiles"):
        assert outcome.counts[asset] == (0, 1, 0, 2), asset
    after = world.table(world.paths.chunks)
    old, new = set(before["chunk_id"].to_pylist()), set(after["chunk_id"].to_pylist())
    assert len(new - old) == 1, "one chunk holds the sentence"
    n_new = outcome.counts["embeddings"][0]
    assert 1 <= n_new < outcome.facts["embeddings"]["dagster/row_count"] / 4
    assert outcome.counts["qa"] == (0, 1, 0, 2), (
        "only the question about ferritin has another answer"
    )
    assert "13%" in world.answers()["q1"]["answer"]
    assert_nothing_is_left_behind(world)


def test_a_deleted_paper_is_gone_everywhere(world: World) -> None:
    """A citation of a withdrawn paper is worse than none."""
    (world.paths.papers / "basalt.tei.xml").unlink()

    outcome = world.run()

    for asset in ("parsed_index", "blocks", "statements", "chunks", "passages"):
        assert outcome.counts[asset] == (0, 0, 1, 2), asset
    for asset in INDEX_ASSETS:
        added, changed, removed, _ = outcome.counts[asset]
        assert (added, changed) == (0, 0), asset
        assert removed > 0, asset
    assert outcome.counts["embeddings"][0] == 0
    assert world.answers()["q2"]["refused"]
    assert [
        key for key, draft in contents(world.paths.kept, "answers").items() if b"basalt:" in draft
    ] == []
    assert_nothing_is_left_behind(world)


def test_another_chunk_size_recomputes_from_the_chunks_on(world: World) -> None:
    """Parsing is the expensive part for PDFs and must not be repeated."""
    outcome = world.run(
        chunking={
            "target_tokens": 200,
            "max_tokens": 240,
            "overlap_tokens": 40,
            "tokenizer": "wordpiece",
        }
    )

    assert outcome.counts["parsed_index"] == (0, 0, 0, 3)
    assert outcome.counts["blocks"] == (0, 0, 0, 3)
    assert outcome.counts["chunks"] == (0, 3, 0, 0)
    assert pc.max(world.table(world.paths.chunks)["n_tokens"]).as_py() <= 240
    assert_nothing_is_left_behind(world)


def test_a_missing_papers_folder_deletes_nothing(world: World) -> None:
    """An unmounted disk must not read as "all papers were deleted"."""
    before = world.bytes_of(world.paths.cache, world.paths.qa)
    world.paths.papers.rename(world.paths.data / "unmounted")

    outcome = world.run()

    assert "does not exist" in outcome.failures["parsed_index"]
    assert world.bytes_of(world.paths.cache, world.paths.qa) == before
