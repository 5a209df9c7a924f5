"""Elements that a question asks for by label or by the name of a section, and the passages that
hold them."""

from pathlib import Path

import pytest

from rag_assets.core.domain import PaperFacts
from rag_assets.core.settings import RetrievalSettings
from rag_assets.questions import asked
from rag_assets.search.retrieval.elements import asked_for, papers_asked
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

ROPES = [
    chunk_of(
        f"rope{n}",
        f"Ropes of hemp were pulled on day {n}.",
        paper_id="ropes",
        section="2 Methods",
        ordinal=n,
    )
    for n in range(9)
]
CORPUS = Corpus(
    [
        *ROPES,
        chunk_of(
            "caption",
            "Figure 2. Load against strands.",
            paper_id="ropes",
            section="3 Results",
            ordinal=9,
        ),
        chunk_of(
            "wet", "Wet hemp was not tried.", paper_id="ropes", section="4 Limitations", ordinal=10
        ),
        chunk_of("bell", "Bells were struck.", paper_id="bells"),
    ]
)


@pytest.mark.parametrize(
    ("question", "name", "rest"),
    [
        ("What are the limitations?", "limitations", set()),
        ("What methods were used?", "methods", set()),
        ("Who took part?", "participants", set()),
        ("What does the discussion section say?", "discussion", set()),
        ("How was the study done?", "methods", set()),
        ("What are the weaknesses of Ropes of ferries?", "limitations", {"rope", "ferri"}),
    ],
)
def test_a_question_for_a_part_of_a_paper_names_its_section(
    question: str, name: str, rest: set[str]
) -> None:
    """No sentence below "Limitations" says the word: the question was refused."""
    found = asked_for(question)

    assert (found.name, found.rest) == (name, rest)


def test_a_section_is_asked_of_the_paper_whose_title_the_question_has() -> None:
    """The limitations of another paper are a false answer."""
    found = asked_for("What are the limitations of ropes of ferries?")
    papers = {"a": PaperFacts("Bells of chapels"), "b": PaperFacts("Ropes of ferries")}

    assert found is not None
    assert papers_asked(found, papers) == ["b"]
    assert papers_asked(found, {"a": PaperFacts("Bells of chapels")}) == []


@pytest.mark.parametrize(
    ("question", "chunk_id"),
    [
        ("What does Figure 2 of ropes show?", "caption"),
        ("What are the limitations of ropes?", "wet"),
    ],
)
def test_what_is_asked_for_by_label_or_name_is_read_first(
    question: str, chunk_id: str, tmp_path: Path
) -> None:
    """Among passages with more words of the question it was not even read."""
    CORPUS.index(tmp_path)

    with CORPUS.searcher(tmp_path, RetrievalSettings()) as searcher:
        evidence = searcher.evidence(asked(question), 2)

    assert evidence.contexts[0].chunk_id == chunk_id
    assert evidence.absent == ()


def test_a_label_that_a_paper_lacks_is_told_with_those_it_has(tmp_path: Path) -> None:
    """A bare refusal leaves a reader who mistook a number in the dark."""
    CORPUS.index(tmp_path)

    with CORPUS.searcher(tmp_path, RetrievalSettings()) as searcher:
        evidence = searcher.evidence(asked("What does Figure 9 of ropes show?"), 2)

    assert evidence.absent == ("No Figure 9 was found in ropes, which has Figure 2.",)
