"""Papers as people have them: one folder per paper, or a list where the pipeline publishes its
index."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets_testing.world import QUESTIONS, TOPICS, World


def test_one_folder_per_paper_is_read_and_cited_by_path(world: World) -> None:
    """A download of arXiv has `main` in every folder; only the first paper was used."""
    for number, paper_id in enumerate(TOPICS):
        folder = world.paths.papers / f"2301.0000{number}"
        folder.mkdir()
        (world.paths.papers / f"{paper_id}.tei.xml").rename(folder / "main.tei.xml")
    world.write_questions([QUESTIONS[0], QUESTIONS[1] | {"paper_ids": ["2301.00002__main"]}])

    outcome = world.run()

    assert outcome.is_success, outcome.failures or outcome.broken
    assert outcome.warned.keys() == {"papers.records_complete"}, "the test's papers state no year"
    [claim] = world.answers()["q2"]["claims"]
    assert {citation["paper_id"] for citation in claim["citations"]} == {"2301.00002__main"}


def test_a_list_at_the_place_of_the_index_names_the_papers_in_every_run(
    world: World, tmp_path: Path
) -> None:
    """ADR 0004 names this path; the first run failed on it, and must not make the second see other
    papers."""
    elsewhere = tmp_path / "tei"
    world.paths.papers.rename(elsewhere)
    rows = [
        {"paper_id": paper_id, "parsed_xml_path": str(elsewhere / f"{paper_id}.tei.xml")}
        for paper_id in TOPICS
    ]
    schema = pa.schema(
        [(name, pa.string()) for name in ("paper_id", "parsed_xml_path", "parsed_txt_path")]
    )
    pq.write_table(pa.Table.from_pylist(rows[:2], schema), world.paths.parsed_index)

    outcomes = [world.run(), world.run()]

    assert [outcome.is_success for outcome in outcomes] == [True, True], outcomes[0].failures
    assert outcomes[0].versions["parsed_index"] == outcomes[1].versions["parsed_index"]
    assert world.table(world.paths.parsed_index)["paper_id"].to_pylist() == ["ferritin", "iron"]
    assert outcomes[1].counts["parsed_index"] == (0, 0, 0, 2)
