"""Records of papers that a question describes in other words than their titles."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rag_assets.core.domain import TITLE_PAGE_HEADING
from rag_assets.core.settings import RetrievalSettings
from rag_assets.questions import QuestionKind, asked, read
from rag_assets.questions.reading import Asked
from rag_assets_tests.search.retrieval.corpus import Corpus, HashedWords, chunk_of

TITLES = {"lund": "Ferritin in mountain sheep", "moe": "Copper in goats", "ek": "Salt in goats"}


@pytest.mark.parametrize(
    ("question", "works", "paper"),
    [
        ("Wann erschien die Arbeit zu ferritin bei Schafen?", "ferritin bei Schafen", "lund"),
        ("Wann erschien die Arbeit zu goats?", "goats", None),
        ('Wann erschien "ferritin bei Schafen"?', "ferritin bei Schafen", None),
        ("Wie erging es ferritin bei Schafen?", "", None),
    ],
    ids=["one is much nearer", "two are near", "a title is quoted", "no record is asked for"],
)
def test_the_paper_whose_title_page_is_much_nearer_than_all_others_is_meant(
    question: str,
    works: str,
    paper: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another paper's authors would be given for a work that is not there."""

    def model(text: str) -> Asked:
        if works not in text or not works:
            return Asked()
        return Asked(frozenset({QuestionKind.PUBLICATION}), ("Publication date",), (works,))

    facts = replace(HashedWords.facts, telling_margin=0.06)
    monkeypatch.setattr(HashedWords, "facts", facts)
    corpus = Corpus(
        [
            chunk_of(own, f"Title: {title}.", paper_id=own, section=TITLE_PAGE_HEADING)
            for own, title in TITLES.items()
        ]
    )
    corpus.index(tmp_path)
    with corpus.searcher(tmp_path, RetrievalSettings(), reading=partial(read, model=model)) as one:
        as_read = one.as_read(asked(question))

    assert as_read.filter.papers == ((paper,) if paper else None)
    assert (works in as_read.question) is (paper is None)
