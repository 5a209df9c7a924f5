"""A question becomes ranked hits, over real indexes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.domain import TITLE_PAGE_HEADING, Chunk
from rag_assets.core.settings import RetrievalSettings
from rag_assets.questions import Question, ReadQuestion, asked
from rag_assets.search.indexing.chroma import ChromaStore
from rag_assets.search.indexing.protocols import Vectors
from rag_assets.search.indexing.tantivy_index import TantivyIndex
from rag_assets.search.retrieval.library import Library
from rag_assets.search.retrieval.ranking import DenseSearch
from rag_assets.search.retrieval.search import Searcher
from rag_assets_tests.search.indexing.rows import bag_of_words
from rag_assets_tests.search.retrieval.corpus import Corpus, HashedWords, WordCounter, chunk_of

CORPUS = Corpus(
    [
        chunk_of(
            "iron", "Ferritin fell in all groups. Iron stores recovered later. The diet was kept."
        ),
        chunk_of(
            "bridge",
            "Steel bridges carry loads. Welded joints tire under load.",
            paper_id="jones2021",
        ),
        chunk_of(
            "river",
            "The river floods each spring. Silt settles on the fields.",
            paper_id="jones2021",
            ordinal=1,
        ),
        chunk_of(
            "figure",
            "A curve of ferritin over weeks (drawn by a model).",
            paper_id="smith2020",
            ordinal=1,
        ),
    ]
)
SETTINGS = RetrievalSettings()


N_CANDIDATES = "rag_assets.search.retrieval.ranking.CANDIDATES"


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than there are passages."""
    monkeypatch.setattr(N_CANDIDATES, 4)


def chunk_ids(searcher: Searcher, question: str, k: int = 10) -> list[str]:
    with searcher:
        return [hit.chunk.chunk_id for hit in searcher.hits(searcher.rank(question), k)]


Given = Callable[..., list[str]]


@pytest.fixture
def given(tmp_path: Path, reading: ReadQuestion) -> Given:
    """The chunks that a question is answered from, in a corpus of these chunks."""

    def chunks_given(
        chunks: Sequence[Chunk],
        question: str,
        k: int = 2,
        *,
        for_model: bool = False,
        settings: RetrievalSettings = SETTINGS,
        **asked: Any,
    ) -> list[str]:
        corpus = Corpus(chunks)
        corpus.index(tmp_path)
        with corpus.searcher(tmp_path, settings, reading=reading) as searcher:
            found = searcher.evidence(
                Question(id="q", question=question, **asked), k, for_model=for_model
            )
        return [one.chunk_id for one in found.contexts]

    return chunks_given


RESULTS = [
    chunk_of(f"r{n}", f"Ferritin fell in winter number {n}.", ordinal=n) for n in range(1, 9)
]


@pytest.mark.parametrize("fusion", ["convex", "rrf", "rank_blend"])
@pytest.mark.parametrize("indexes", ["both", "words", "vectors"])
def test_the_passage_that_answers_comes_first(folder: Path, fusion: str, indexes: str) -> None:
    """Whatever the settings and whichever index is left, an easy question must find its paper."""
    settings = RetrievalSettings.model_validate({"fusion": fusion})

    assert (
        chunk_ids(CORPUS.searcher(folder, settings, indexes), "Which joints tire under load?", 2)[0]
        == "bridge"
    )


def test_a_question_looks_each_chunk_up_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To decode the rows around a chunk takes most of a question's time in a large corpus."""
    looked_up, chunks = Counter[str](), Library.chunks

    def counted(library: Library, chunk_ids: Iterable[str]) -> dict[str, Chunk]:
        found = chunks(library, chunk_ids)
        looked_up.update(found.keys())
        return found

    monkeypatch.setattr(Library, "chunks", counted)
    with CORPUS.searcher(folder, SETTINGS) as searcher:
        found = searcher.evidence(asked("Which joints tire under load?"), 3)

    assert {hit.chunk.chunk_id for hit in found.hits} <= looked_up.keys()
    assert set(looked_up.values()) == {1}


def test_a_chunk_is_scored_by_its_best_passage(folder: Path) -> None:
    """Averages would bury a chunk whose one sentence is the answer."""
    with CORPUS.searcher(folder, SETTINGS) as searcher:
        ranking = searcher.rank("Silt settles on the fields.")
        hits = searcher.hits(ranking, 10)

    assert hits[0].passage.text == "Silt settles on the fields."
    assert hits[0].score == ranking[0].score
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert len({hit.chunk.chunk_id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("neighbours", [0, 1, 2])
def test_a_hit_brings_as_many_neighbours_as_the_setting_says(
    neighbours: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that runs over more than one passage is read in half, or crowds out others."""
    sentences = ["Rain fell.", "Wind rose.", "Silt settles.", "Ice came.", "Birds left."]
    corpus = Corpus([chunk_of("river", " ".join(sentences))])
    corpus.index(tmp_path)
    monkeypatch.setattr(N_CANDIDATES, 1)

    with corpus.searcher(tmp_path, RetrievalSettings(neighbours=neighbours)) as searcher:
        contexts = searcher.evidence(asked("What does silt do when it settles?"), 1).contexts

    assert [one.text for one in contexts] == [" ".join(sentences[2 - neighbours : 3 + neighbours])]


def test_a_passage_found_by_words_gets_its_true_cosine(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, a passage just below the cut of the vectors would count as unlike the
    question."""
    question = "Silt joints diet recovered"
    monkeypatch.setattr(N_CANDIDATES, 1)
    with CORPUS.searcher(folder, RetrievalSettings(dense_weight=0.01)) as searcher:
        ranking = searcher.rank(question)
    monkeypatch.setattr(N_CANDIDATES, 8)
    with CORPUS.searcher(folder, SETTINGS) as searcher:
        by_words = [one for one in searcher.rank(question) if one.lexical_score is not None]

    assert all(one.dense_score is not None for one in (*ranking, *by_words))
    texts = {passage.passage_id: passage.text for passage in CORPUS.passages}
    for one in (*ranking, *by_words):
        cosine = float(bag_of_words(texts[one.passage_id]) @ bag_of_words(question))
        assert one.dense_score == pytest.approx(cosine, abs=1e-4)


class Unasked(HashedWords):
    """A model that must not be asked for a vector: it may be behind an API."""

    def embed_query(self, text: str) -> Vectors:
        raise AssertionError(f"a vector of {text} was asked for")


def test_vectors_without_weight_are_not_searched(folder: Path) -> None:
    """Words only must mean words only: no hit that shares none with the question, no request, no
    model in memory."""
    settings = RetrievalSettings(dense_weight=0.0)
    words, store = TantivyIndex.open(folder / "bm25"), ChromaStore.open(folder / "chroma")
    with Searcher(
        CORPUS.library, DenseSearch(store, Unasked()), words, settings, WordCounter()
    ) as searcher:
        found = searcher.hits(searcher.rank("ferritin"), 10)

    assert {hit.chunk.chunk_id for hit in found} == {"iron", "figure"}
    assert {hit.dense_score for hit in found} == {None}


@pytest.mark.parametrize(
    ("section", "text", "question"),
    [
        (
            TITLE_PAGE_HEADING,
            "Title: Ferritin in winter. Authors: Ana Sun.",
            "Who wrote the paper on ferritin in winter?",
        ),
        (
            "Funding",
            "The study of ferritin in winter was paid by a foundation.",
            "Who funded the study of ferritin in winter?",
        ),
    ],
    ids=["title page", "statement"],
)
def test_title_pages_and_statements_are_found_by_questions_that_ask_for_them_only(
    tmp_path: Path, section: str, text: str, question: str, reading: ReadQuestion
) -> None:
    """They hold the words of the paper's subject: they would come before the text that says
    something of it."""
    aside = chunk_of("aside", text, section=section)
    corpus = Corpus([aside, chunk_of("results", "Ferritin fell in winter.", ordinal=1)])
    corpus.index(tmp_path)

    of_subject, of_paper = (
        chunk_ids(corpus.searcher(tmp_path, SETTINGS, reading=reading), asked)
        for asked in ("What happened to ferritin in winter?", question)
    )

    assert (of_subject, of_paper[0]) == (["results"], "aside")


@pytest.mark.parametrize(
    ("question", "is_given"),
    [
        ("Who wrote the study in which ferritin fell?", True),
        ("In which study fell ferritin?", False),
    ],
)
def test_a_question_about_the_publication_is_given_the_first_page(
    given: Given, question: str, *, is_given: bool
) -> None:
    """The title page of a paper shares no word with a question that tells its findings."""
    title = chunk_of("title", "Title: Iron. Authors: Ana Sun.", section=TITLE_PAGE_HEADING)

    assert ("title" in given([title, *RESULTS], question)) is is_given


@pytest.mark.parametrize(
    ("section", "question", "is_given"),
    [
        ("Discussion", "Summarise the study of ferritin in winter.", True),
        ("Methods", "Summarise the study of ferritin in winter.", False),
        ("Conclusion", "In which study fell ferritin in winter?", False),
    ],
)
def test_what_a_paper_found_is_looked_for_in_its_conclusions(
    given: Given, section: str, question: str, *, is_given: bool
) -> None:
    """They share few words with a question that describes the paper."""
    end = chunk_of("end", "Lambs should graze longer.", section=section, ordinal=9)

    assert ("end" in given([*RESULTS, end], question)) is is_given


def test_each_part_of_a_question_is_given_its_own_best_chunks(given: Given) -> None:
    """One part finds many good chunks, and the other would be answered from none."""
    bridge = chunk_of("bridge", "Some joints are tired.", paper_id="jones2021")
    question = "In which flock fell ferritin in winter, and which joints tire under heavy load?"

    found = given([*RESULTS[:4], bridge], question, 1)

    assert "bridge" in found
    assert set(found) - {"bridge"}


def test_a_model_reads_more_chunks_than_sentences_are_chosen_from(
    given: Given,
) -> None:
    """Half of the evidence that an answer missed stood just behind the chunks that were read."""
    alone = RetrievalSettings(neighbours=0)

    n_read = [
        len(set(given(RESULTS, "When fell ferritin?", for_model=for_model, settings=alone)))
        for for_model in (False, True)
    ]

    assert n_read == [2, 4]


def test_a_model_reads_the_abstract_and_the_conclusion_of_a_paper_it_is_asked_about(
    given: Given,
) -> None:
    """What limits a study stands at its end, in other words than the question's."""
    begin = chunk_of("begin", "Lambs were weighed.", section="Abstract")
    end = chunk_of("end", "Lambs should graze longer.", section="Conclusion", ordinal=9)
    named = {"paper_ids": ("smith2020",)}

    found = given([begin, *RESULTS, end], "When fell ferritin?", 1, for_model=True, **named)

    assert {"begin", "end"} <= set(found)

    sifted = RetrievalSettings(min_score=0.01, neighbours=0)
    found = given(
        [begin, *RESULTS, end], "When fell ferritin?", 1, for_model=True, settings=sifted, **named
    )

    assert found
    assert not {"begin", "end"} & set(found), "no score says that they are good enough"
