"""What one paper breaks keeps that paper out and no other, at every stage, and is shown."""

import csv
from typing import Any

import pytest

from rag_assets.core.settings import Settings, load_settings
from rag_assets.corpus.chunking import chunker
from rag_assets.faces.cli.folder_facts import quarantined_files, status_facts
from rag_assets.pipeline.assets import resources
from rag_assets_testing.in_place import InPlace
from rag_assets_testing.world import World


def settings_of(world: World) -> Settings:
    return load_settings({"data_dir": str(world.paths.data)})


def papers_in(world: World) -> list[set[str]]:
    return [
        set(world.table(path)["paper_id"].to_pylist())
        for path in (world.paths.chunks, world.paths.passages)
    ]


def test_a_paper_that_cannot_be_cut_leaves_every_stage_and_comes_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of any paper was published; what stays of a bad one would be cited for a text that is
    gone."""
    cut, calls = chunker.chunk_paper, []

    def careless(paper_id: str, *arguments: Any) -> Any:
        if paper_id == "basalt":
            calls.append(paper_id)
            raise ValueError("a bug")
        return cut(paper_id, *arguments)

    monkeypatch.setattr(resources, "open_workforce", lambda *_: InPlace())
    monkeypatch.setattr(chunker, "chunk_paper", careless)
    monkeypatch.setattr(chunker, "CHUNKER_VERSION", 98)

    first, second = world.run(), world.run()

    assert first.is_success, first.failures or first.broken
    assert "basalt.tei.xml could not be cut" in first.warned["chunks.none_quarantined"]
    assert papers_in(world) == [{"ferritin", "iron"}] * 2
    assert all("basalt" not in str(answer["claims"]) for answer in world.answers().values())
    assert [(file["paper_id"], file["file"]) for file in quarantined_files(settings_of(world))] == [
        ("basalt", "basalt.tei.xml")
    ]
    assert status_facts(settings_of(world))["papers_quarantined"] == 1
    assert calls == ["basalt"], "a second run does not try it again"
    assert second.counts["chunks"] == (0, 0, 0, 3)

    world.begin_history()  # the version that Dagster knows of the code is that of its import
    monkeypatch.setattr(chunker, "CHUNKER_VERSION", 99)
    monkeypatch.setattr(chunker, "chunk_paper", cut)
    mended = world.run()

    assert mended.is_success, mended.failures or mended.broken
    assert "chunks.none_quarantined" not in mended.warned
    assert papers_in(world) == [{"basalt", "ferritin", "iron"}] * 2
    assert status_facts(settings_of(world))["papers_quarantined"] == 0
    told = [
        (row["step"], row["file"], row["reason"], row["remedy"])
        for row in csv.DictReader(world.paths.quarantine_audit.read_text("utf-8-sig").splitlines())
    ]
    assert told == [
        (
            "chunks",
            "basalt.tei.xml",
            "basalt.tei.xml could not be cut, for a reason that was not foreseen (ValueError: a bug).",
            "Please report it with the file.",
        ),
        ("chunks", "basalt.tei.xml", "", ""),
    ], "a row when it is held back, one when it is used again"
