"""The questions and topics that the page opens with."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.core.incremental import read_sealed
from rag_assets.core.settings import Settings, load_settings
from rag_assets.engine import open_engine
from rag_assets.evaluation.examples import (
    DraftedQuestion,
    drafted_questions,
    is_answered,
    keyless,
    sampled_chunks,
    topics_of,
)
from rag_assets_testing.world import TOKENIZER, World, made_once

LICHENS = """# Slow lichens: growth on stone walls

## 1 Introduction

Lichens cover many old stone walls in the north, and builders of stone walls ask how old they are.

## 2 Growth rings

Lichens have no growth rings, and in trees the growth rings tell the age of the wood.
In the oaks beside the walls the growth rings were counted by hand.

Table 1: Growth of lichens by side of the wall.

| Side | Growth in mm a year |
|---|---|
| north | 0.9 |
| south | 0.4 |

## 3 Conclusion

Lichens on the north side of stone walls grow twice as fast as those on the south side.
"""
DOGS = """# Patient dogs: waiting for food

## Waiting times

Waiting times of the dogs were taken with a stopwatch, and the mean of the waiting times was 41 s.

## Limitations

Only dogs of one kennel were tested, and the food was always the same.
"""


@pytest.fixture(scope="module")
def indexed(for_all_processes: Path) -> World:
    def make(world: World) -> None:
        (world.paths.papers / "lichens.md").write_text(LICHENS)
        (world.paths.papers / "dogs.md").write_text(DOGS)
        assert world.run("examples", *ABOVE).is_success

    return made_once(for_all_processes / "examples", make)


ABOVE = (
    "parsed_index papers blocks statements chunks summaries passages profiles references embeddings "
    "chroma_index bm25_index index_meta"
).split()


def settings_of(world: World) -> Settings:
    return keyless(load_settings({"data_dir": str(world.paths.data), **TOKENIZER}))


def examples_of(world: World) -> dict[str, list[str]]:
    content = read_sealed(world.paths.examples)
    assert content is not None
    return content


def test_every_question_shown_is_answered_from_its_own_section(indexed: World) -> None:
    """A first click that gets a refusal, or the words of another paper, is the last one."""
    settings = settings_of(indexed)
    with open_engine(settings) as engine:
        drafts = {
            one.question: one for one in drafted_questions(settings, sampled_chunks(settings))
        }
        shown = examples_of(indexed)["questions"]

        assert set(shown) == {
            "What does “Slow lichens: growth on stone walls” conclude?",
            "What are the limitations of “Patient dogs: waiting for food”?",
            "What does Table 1 of “Slow lichens: growth on stone walls” show?",
            "What do the papers say about growth rings?",
        }
        assert "What do the papers say about waiting times?" in drafts, "no answer, not shown"
        for question in shown:
            result = engine.trace(question).result
            assert is_answered(drafts[question], result, engine.chunks)


def test_topics_are_phrases_that_titles_share_with_the_texts(indexed: World) -> None:
    """They say what the papers are about in the papers' own words."""
    assert examples_of(indexed)["topics"] == ["stone walls"]


def test_a_question_is_asked_only_once_for_an_index(indexed: World, tmp_path: Path) -> None:
    """Opening the page costs nothing, and neither does a night in which nothing changed."""
    world = indexed.copy_to(tmp_path)

    again = world.run(*ABOVE, "examples")
    (world.paths.papers / "dogs.md").unlink()
    without = world.run(*ABOVE, "examples")

    assert again.counts["examples"] == (0, 0, 0, 1)
    assert without.counts["examples"] == (0, 1, 0, 0)
    assert not any("dogs" in question for question in examples_of(world)["questions"])


def test_no_papers_have_neither_questions_nor_topics(indexed: World) -> None:
    settings = settings_of(indexed)

    assert (list(drafted_questions(settings, [])), topics_of(settings, [])) == ([], [])


def test_an_answer_with_a_gap_or_from_elsewhere_is_not_shown(indexed: World) -> None:
    settings = settings_of(indexed)
    chunks = sampled_chunks(settings)
    with open_engine(settings) as engine:
        question = "What are the limitations of “Patient dogs: waiting for food”?"
        (draft,) = (one for one in drafted_questions(settings, chunks) if one.question == question)
        result = engine.trace(question).result
        elsewhere = next(one for one in chunks if one.section_id != draft.chunk.section_id)

        def is_shown(draft: DraftedQuestion) -> bool:
            return is_answered(draft, result, engine.chunks)

        assert is_shown(draft)
        assert not is_shown(replace(draft, chunk=elsewhere))
        assert is_shown(replace(draft, topic="one kennel"))
        assert not is_shown(replace(draft, topic="cats of one kennel"))
        for gap in ({"unanswered": ("why",)}, {"missing_names": ("Rex",)}, {"claims": ()}):
            assert not is_answered(draft, replace(result, **gap), engine.chunks)
