"""Papers as people have them: one folder per paper, or a list where the pipeline publishes its
index."""

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
