"""Questions that no search among single sentences answers: who wrote a paper, what it says, how two things compare."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.verify.verification import verify
from rag_assets.core.domain import TITLE_PAGE_HEADING, Chunk, Context, PaperFacts
from rag_assets.core.settings import ExtractiveSettings
from rag_assets.questions import Kind, read
from rag_assets_tests.answering.builders import WordReader, chunk, context, readers

SHEEP_PAGE = chunk(
    "lund2019",
    "Title: Ferritin in mountain sheep\nAuthors: Ada Lund; Berit Moe\nAffiliations: Hill College\nPublished in: Herds\n"
    "Publication date: 2019",
)
GOAT_PAGE = chunk("moe2021", "Title: Copper in valley goats\nAuthors: Berit Moe; Carl Ness\nAffiliations: Dale College")
SHEEP = chunk(
    "lund2019",
    "We examined ferritin in mountain sheep at three pastures. Forty sheep were recruited in spring and bled twice. "
    "Ferritin in mountain sheep decreased in all groups by winter. A limitation is the small number of sheep.",
)


def page(of: Chunk) -> Context:
    return replace(context(of), section_title=TITLE_PAGE_HEADING)


def draft(question: str, *contexts: Context) -> DraftAnswer:
    return ExtractiveAnswerer(readers(), ExtractiveSettings(min_relevance=0.3), min_sources=1).draft(question, contexts)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Who wrote the paper on ferritin in mountain sheep?", "Authors: Ada Lund; Berit Moe"),
        ("Who are the authors of the study of ferritin in sheep?", "Authors: Ada Lund; Berit Moe"),
        ("In which journal did the paper on ferritin in sheep appear?", "Published in: Herds"),
        ("When was the paper on ferritin in sheep published?", "Publication date: 2019"),
        ("Who wrote about copper in goats?", "Authors: Berit Moe; Carl Ness"),
    ],
)
def test_the_title_page_of_the_paper_that_is_named_says_who_wrote_it(question: str, line: str) -> None:
    """A sentence with the words of the title says nothing about its authors."""
    answer = draft(question, context(SHEEP), page(GOAT_PAGE), page(SHEEP_PAGE))

    assert [claim.text for claim in answer.claims] == [line]
    assert answer.claims[0].citations[0].quote == line


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the paper on ferritin in mountain sheep, and how many sheep were recruited in spring?",
        "How many sheep were recruited in spring, and who wrote the paper on ferritin in mountain sheep?",
    ],
)
def test_authors_and_something_else_are_both_answered(question: str) -> None:
    """The title page alone answered such a question, and its other half was lost."""
    answer = draft(question, context(SHEEP), page(GOAT_PAGE), page(SHEEP_PAGE))

    said = ["Authors: Ada Lund; Berit Moe", "Forty sheep were recruited in spring and bled twice."]
    in_order = said if question.startswith("Who") else said[::-1]
    assert len(answer.claims) == 2
    assert all(text in claim.text for claim, text in zip(answer.claims, in_order, strict=True))
    assert answer.unanswered == ()


def test_the_half_that_nothing_answers_stays_open_beside_the_authors() -> None:
    """An answer that passes over a half of the question looks whole."""
    question = "Who wrote the paper on ferritin in mountain sheep, and which vaccine did the penguins get?"

    answer = draft(question, page(GOAT_PAGE), page(SHEEP_PAGE))

    assert [claim.text for claim in answer.claims] == ["Authors: Ada Lund; Berit Moe"]
    assert answer.unanswered == ("which vaccine did the penguins get?",)


def test_a_further_question_about_authors_is_asked_of_the_same_paper() -> None:
    """ "Where do the authors work?" names no paper: every title page answered it."""
    found = [context(SHEEP), page(GOAT_PAGE), page(SHEEP_PAGE)]

    answer = draft("Who wrote the paper on ferritin in mountain sheep, and where do the authors work?", *found)

    assert [claim.text for claim in answer.claims] == ["Authors: Ada Lund; Berit Moe", "Affiliations: Hill College"]


def test_a_line_that_answers_both_halves_stands_once() -> None:
    """Names and date of an export are one line."""
    front = chunk(
        "sheep_ferritin", "Lund, Ada; Moe, Berit; Ness, Carl 2019-02-06\n\nSheep were bled twice in the herd."
    )
    question = "When was the study of ferritin in sheep published, and who are its authors?"

    answer = draft(question, replace(context(front), page_start=1))

    assert [claim.text for claim in answer.claims] == ["Lund, Ada; Moe, Berit; Ness, Carl 2019-02-06"]
    assert answer.unanswered == ()


def test_a_line_of_names_above_the_abstract_says_who_wrote_a_paper() -> None:
    """Only TEI keeps the authors apart; in other formats they are a line of the first page."""
    front = replace(chunk("ferritin_in_sheep", "Ada B. Lund, MD, Berit Moe and Carl Ness\n\nFerritin fell in sheep."))

    answer = draft("Who wrote about ferritin in sheep?", replace(context(front), section_title=""))

    assert [claim.text for claim in answer.claims] == ["Ada B. Lund, MD, Berit Moe and Carl Ness"]


def test_a_paper_that_a_question_describes_in_its_own_words_is_meant() -> None:
    """Who has not the title at hand asks for what the study did."""
    found = [context(SHEEP), page(GOAT_PAGE), page(SHEEP_PAGE)]

    answer = draft("Who wrote the study of sheep bled twice at three pastures?", *found)

    assert [claim.text for claim in answer.claims] == ["Authors: Ada Lund; Berit Moe"]


def test_the_passages_that_tell_which_paper_is_meant_are_read_as_they_are_stored() -> None:
    """Encoding them anew took most of the time of such an answer."""
    reader = WordReader()
    answerer = ExtractiveAnswerer(readers(reader), ExtractiveSettings(min_relevance=0.3), min_sources=1)

    found = answerer.draft(
        "Who wrote the study of sheep bled twice at three pastures?", [page(SHEEP_PAGE), context(SHEEP)]
    )

    assert [claim.text for claim in found.claims] == ["Authors: Ada Lund; Berit Moe"]
    assert SHEEP.text not in reader.exactly_read


@pytest.mark.parametrize(
    "front",
    [
        "Ferritin in sheep\n\nAuthors: Lund, Ada; Moe, Berit Date: 2019\n\nFerritin fell in sheep.",
        "Ada Lund and Berit Moe. 2019. Ferritin in sheep. In Herds 7.\n\nFerritin fell in sheep.",
        "Ada Lund* | Berit Moe*\nHill College | Dale College\n\nFerritin fell in sheep.",
    ],
)
def test_the_first_page_of_a_paper_without_a_header_says_who_wrote_it(front: str) -> None:
    """Labelled, in a table, in a citation of itself: formats keep authors in many ways."""
    titled = replace(context(chunk("lund2019", front)), paper=PaperFacts("Ferritin in sheep"))

    answer = draft("Who wrote about ferritin in sheep?", replace(titled, page_start=1))

    assert [claim.text for claim in answer.claims] == [line for line in front.split("\n") if "Ada" in line]


@pytest.mark.parametrize(("thing", "is_answered"), [("lund2019", True), ("the fence", False)])
def test_who_made_a_thing_is_answered_by_the_paper_that_is_named_after_it(thing: str, *, is_answered: bool) -> None:
    """The authors of a paper that only uses a thing did not make it."""
    first = replace(
        context(chunk("lund2019", "Ada Lund, Berit Moe\n\nThe fence held.")), section_title="", page_start=1
    )

    answer = draft(f"Who developed {thing}?", first)

    assert ([claim.text for claim in answer.claims] == ["Ada Lund, Berit Moe"]) is is_answered


@pytest.mark.parametrize(
    ("front", "answers"),
    [
        ("Ada Lund\n\nHill College, Dale, North", ["Ada Lund"]),
        ("Ada Lund Hill College, Dale\n\nAbstract. Ferritin in sheep.", ["Ada Lund Hill College, Dale"]),
        ("Lund, Ada * lund@hill.edu\n\nMoe, Berit † moe73@dale.edu", 2),
        ("Author(s) | Lund, Ada; Moe, Berit\nCitation | Herds, 2019", ["Author(s) | Lund, Ada; Moe, Berit"]),
        ("Deep Learning\n\nDeep learning of sheep, at Hill College, Dale, is deep.", []),
    ],
)
def test_a_first_page_names_its_authors_with_or_without_their_places(front: str, answers: list[str] | int) -> None:
    """Papers without a header begin with names in a line of their own, or each beside a place or an address."""
    first = replace(
        context(chunk("sheep_ferritin", f"{front}\n\nSheep were bled twice in spring, in the herd.")), page_start=1
    )

    claims = draft("Who carried out the study of ferritin in sheep?", first).claims

    assert len(claims) == answers if isinstance(answers, int) else [one.text for one in claims] == answers


def test_the_places_where_authors_work_stand_on_the_first_page() -> None:
    """One university may be in the line below the names, a later one in a footnote."""
    text = (
        "Ada Lund*\n\nDepartment of Herds, Hill College, Dale\n\nAbstract\n\nFerritin in sheep was measured in herds."
    )
    first = replace(context(chunk("sheep_ferritin", text)), page_start=1)

    answer = draft("At which university does the author of the study of ferritin in sheep work?", first)

    assert [claim.text for claim in answer.claims] == ["Department of Herds, Hill College, Dale"]


def test_a_name_too_short_for_a_quote_is_quoted_with_the_next_line() -> None:
    """A quote of two words would be found anywhere and is dropped."""
    paper = chunk("sheep_ferritin", "Ada Lund\n\nHill College, Dale\n\nSheep were bled twice in spring, in the herd.")
    question = "Who wrote the study of ferritin in sheep?"

    answer = draft(question, replace(context(paper), page_start=1))
    (claim,) = verify(answer, {paper.chunk_id: paper}, question).claims

    assert (claim.text, claim.citations[0].quote) == ("Ada Lund", "Ada Lund\n\nHill College, Dale")


def test_a_date_is_quoted_with_the_next_line() -> None:
    """Its hyphens are folded before it is looked up: what is left is too short for a quote, and it was dropped."""
    paper = chunk("sheep_ferritin", "Date: 2020-02-26\n\nDOI: 10.1080/1234\n\nSheep were bled twice in spring.")
    question = "When was the study of ferritin in sheep published?"

    answer = draft(question, replace(context(paper), page_start=1))

    assert [claim.text for claim in verify(answer, {paper.chunk_id: paper}, question).claims] == ["Date: 2020-02-26"]


@pytest.mark.parametrize(
    "question",
    [
        "What did the study of ZX99 in mountain penguins find?",
        "What did the study of vaccines for lowland unicorns and ferritin find?",
        "What did the study of ferritin in mountain sheep from 1987 find?",
    ],
)
def test_findings_of_a_paper_that_is_not_there_are_not_told(question: str) -> None:
    """Any paper with one word of the question told its own findings."""
    answer = draft(question, context(GOAT_PAGE), context(SHEEP))

    assert "Ferritin in mountain sheep decreased in all groups by winter." not in [one.text for one in answer.claims]


def test_many_lines_of_title_pages_leave_room_for_the_other_half() -> None:
    """Twelve papers of one title took all places, and the count was gone without a word."""
    pages = [page(replace(SHEEP_PAGE, paper_id=f"l{n}", chunk_id=f"l{n}:a")) for n in range(12)]
    question = "Who wrote the paper on ferritin in mountain sheep, and how many sheep were recruited in spring?"

    answer = draft(question, context(SHEEP), *pages)

    assert any("Forty sheep" in claim.text for claim in answer.claims)
    assert answer.unanswered == ()


def test_authors_that_no_title_page_names_stay_open_beside_an_answer() -> None:
    """An answer that passes over them looks whole."""
    question = "Who wrote the paper on iodine in lowland cows, and how many sheep were recruited in spring?"

    answer = draft(question, context(SHEEP), page(SHEEP_PAGE))

    assert answer.claims
    assert answer.unanswered == ("Who wrote the paper on iodine in lowland cows?",)


@pytest.mark.parametrize(
    "line", ["The last ewe was bled in spring; all were seen 2014-03-04", "Received in May 2019-02-06"]
)
def test_a_sentence_that_ends_in_a_date_says_not_when_a_paper_appeared(line: str) -> None:
    """Only a line of names with a date behind it is of a title page."""
    paper = chunk("sheep_ferritin", f"{line}\n\nSheep were bled twice in spring, in the herd.")

    answer = draft("When was the study of ferritin in sheep published?", replace(context(paper), page_start=1))

    assert line not in [claim.text for claim in answer.claims]


def test_nothing_but_a_title_page_says_who_wrote_a_paper() -> None:
    """ "We examined ferritin" is no author."""
    assert draft("Who wrote the paper on ferritin in sheep?", context(SHEEP)).claims == ()
    assert draft("Who wrote the paper on salt in penguins?", page(SHEEP_PAGE)).claims == ()


def test_a_summary_is_the_abstract_of_the_paper_that_is_meant() -> None:
    """Sentences from the middle of a paper tell nobody what it is about."""
    abstract = "Sheep lose ferritin in mountain winters. We bled forty of them twice in a year."
    lund = replace(context(chunk("lund2019", abstract)), section_title="Abstract")
    moe = replace(
        context(chunk("moe2021", "Goats store copper in all the valleys of the land.")), section_title="Abstract"
    )

    answer = draft("Summarise the paper on ferritin in mountain sheep.", moe, context(SHEEP), lund)

    assert [claim.text for claim in answer.claims] == [abstract]
    assert answer.unanswered == ()


def test_an_abstract_without_a_heading_is_known_by_its_label() -> None:
    """Papers of which only the text is left have no headings."""
    paper = chunk(
        "lund2019",
        "Abstract: Sheep lose ferritin in mountain winters.\n\nFerritin was first measured in sheep in the old days.",
    )

    answer = draft("Summarise the paper on ferritin in sheep.", context(paper))

    assert [claim.text for claim in answer.claims] == ["Sheep lose ferritin in mountain winters."]


def test_a_paper_without_an_abstract_is_not_summarised_and_that_is_said() -> None:
    """Any other sentence of it would look like its summary."""
    answer = draft("Summarise the paper on ferritin in mountain sheep.", context(GOAT_PAGE), context(SHEEP))

    assert answer.claims == ()
    assert answer.unanswered == (
        "No abstract of lund2019 was found, and without a model a summary is quoted from the abstract.",
    )


@pytest.mark.parametrize(
    "question",
    [
        "What is the paper on sheep about?",
        "Give a summary of the study",
        "Summarize it",
        "Can you sum up the work on sheep?",
    ],
)
def test_requests_for_a_summary_are_recognised(question: str) -> None:
    """They are asked in several ways."""
    assert Kind.SUMMARY in read(question).kinds
    assert Kind.SUMMARY not in read("What is ferritin about to do?").kinds
    assert Kind.SUMMARY not in read("How do the pastures sum up to three?").kinds
    assert Kind.SUMMARY not in read("Why is the mean no good summary of the scores?").kinds
    assert Kind.SUMMARY not in read("How did the authors summarise the data?").kinds
