"""What a question asks: its parts and kinds."""

import time

import pytest

from rag_assets.questions import QuestionKind, ReadQuestion, asked_text, read
from rag_assets.questions.reading import asked_of_each, asks_which_papers, counted


def parts(question: str, reading: ReadQuestion = read) -> list[str]:
    return [part.searched for part in reading(question).parts]


@pytest.mark.parametrize(
    "typed",
    [
        "iv. {}",
        "[3] {}",
        "#4 {}",
        "2.3 {}",
        "Part B: {}",
        "Question 12: {}",
        "> {}",
        "Hello! {}",
        "1) Hi, {}",
        "(a){}",
        "Q3 {}",
        "Dear reader,\n\nPlease answer: {}",
    ],
)
def test_what_only_stands_around_a_question_is_not_asked(typed: str) -> None:
    """It has no part in the search, and no paper must mention it."""
    assert asked_text(typed.format("What is a ewe?")) == "What is a ewe?"


@pytest.mark.parametrize(
    "question",
    [
        "E. coli: what is it?",
        "BM25: what is k1?",
        "In Lucene, what is k1?",
        "2020: what happened?",
        "Q3 net sales of wool?",
        "5 is the default of what?",
        "-20 °C: which sample?",
        "Why, and when did it rain?",
        "A. niger: which dose?",
        "(R)-limonene smells of what?",
        "IT, wool, and milk: which grew?",
        "Task 3 was solved by how many ewes?",
        "Q3 was how wet?",
        "May: how many ewes?",
        "In the upper meadow,\nhow many ewes?",
        '"Iron in winter"',
        "1)",
    ],
)
def test_what_a_question_is_about_stays_though_it_stands_in_front(question: str) -> None:
    """The answer would be about something else."""
    assert asked_text(question) == question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Why is BM25 scaled, and who proposed the scaling method?",
            ["Why is BM25 scaled?", "who proposed the scaling method?"],
        ),
        (
            "How many ewes were weighed? In which month were the rams shorn?",
            ["How many ewes were weighed?", "In which month were the rams shorn?"],
        ),
        (
            "Which breed did the hill trial use; what did the hill farmers pay?",
            ["Which breed did the hill trial use?", "what did the hill farmers pay?"],
        ),
        (
            "How large is the herd, how many goats died of fever?",
            ["How large is the herd?", "how many goats died of fever?"],
        ),
        ("What are precision and recall at ten?", None),
        ("Which methods were tested and were found to work well?", None),
        ("What is it and why?", None),
        ("When was Is Iron Good for Sheep? A Trial in the Hills published?", None),
        ("Who wrote Is Iron Good for Sheep? A Trial in the Hills?", None),
        ("What was the ferritin of the sheep? Use what the second table shows.", None),
    ],
)
def test_a_compound_question_is_taken_apart(
    question: str, expected: list[str] | None, reading: ReadQuestion
) -> None:
    """But only where each part asks something."""
    assert parts(question, reading) == (expected or [question])


def test_a_part_that_points_back_is_searched_as_the_whole_question_and_named_as_it_was_asked() -> (
    None
):
    """A note that names the whole question beside its answer contradicts itself."""
    question = "Which k is usual in fusion, and how was it chosen?"

    first, second = read(question).parts

    assert (first.text, first.searched) == (
        "Which k is usual in fusion?",
        "Which k is usual in fusion?",
    )
    assert (second.text, second.searched) == ("how was it chosen?", question)


def test_a_question_of_too_many_parts_is_one() -> None:
    """Each part costs a search."""
    question = ", and ".join(f"how many goats died in herd number {n}" for n in range(9)) + "?"

    assert parts(question) == [question]


@pytest.mark.parametrize(
    "text",
    [
        "What did the study of " + "B-" * 5000,
        "who wrote " * 1000,
        "what does the paper on " * 450,
        "Did the authors of a " * 500 + "and the authors of b?",
        "(" * 10_000,
        "How many, and " * 700,
        "A" * 10_000,
    ],
    ids=["hyphens", "who wrote", "no verb", "authors", "brackets", "conjunctions", "one word"],
)
def test_any_text_is_read_in_little_time(text: str) -> None:
    """Patterns that look for one word behind another took 12 seconds of processor time over 4,000
    characters. Measured limit for 10,000 characters: 0.1 s; ten times as much is allowed, for a
    slow machine."""
    started = time.process_time()
    read.__wrapped__(text[:10_000])

    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("question", "is_about_publication"),
    [
        ("Who wrote the trial of iron in winter?", True),
        ("Who are the authors of the ferritin study?", True),
        ("Which university are the authors affiliated with?", True),
        ("When was the trial of iron in winter published?", True),
        ("When was Is Iron Good for Sheep? A Trial in the Hills published?", True),
        (f"When was Iron in {'a long and cold ' * 12}winter published?", True),
        ("In which journal did the ferritin study appear?", True),
        ("Who is the first author of the ferritin study?", True),
        ("and who are its authors?", True),
        ("When did the review of iron come out?", True),
        ("When was the ferritin paper put on arXiv?", True),
        ("Where was Iron in Winter published?", True),
        ("In which year was Iron in Winter published?", True),
        ("Which of the papers here is by Ada Lund?", True),
        ("Which papers did Ada Lund write?", True),
        ("Which papers are excluded by the review?", False),
        ("What do the authors conclude about iron?", False),
        ("What do the authors of the trial and the authors of the review name as a limit?", False),
        ("Which author drafted the manuscript of the trial?", False),
        ("What are the title and the authors of the trial?", True),
        ("Is that what its authors claim?", False),
        ("When did rashes of the lambs come out after the iron?", False),
        ("When did the test results come out positive?", False),
        ("Who was excluded from the trial?", False),
        ("When was ferritin measured?", False),
        ("Which published trials are compared?", False),
    ],
)
def test_questions_about_the_publication_are_told_from_those_about_its_content(
    question: str, is_about_publication: bool, reading: ReadQuestion
) -> None:
    """Title pages are searched for the former alone; among the latter they would displace what
    answers."""
    assert (QuestionKind.PUBLICATION in reading(question).kinds) is is_about_publication


@pytest.mark.parametrize(
    ("question", "is_about_statements"),
    [
        ("Who funded the trial?", True),
        ("Were the analyses registered in advance?", True),
        ("Where can the data of the ferry study be obtained?", True),
        ("Where can you find the instructions for weighing?", False),
        ("Do the authors have competing interests?", True),
        ("Which ethics committee approved the study?", True),
        ("Who collected the data of the ferry study?", True),
        ("Which author drafted the manuscript?", True),
        ("How much did ferritin fall in winter?", False),
        ("Which data were used to train the model?", False),
    ],
)
def test_questions_about_statements_are_told(
    question: str, *, is_about_statements: bool, reading: ReadQuestion
) -> None:
    """Statements are searched only for these: a kind of question that is missed is refused."""
    assert (QuestionKind.STATEMENTS in reading(question).kinds) is is_about_statements


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Who carried out the study of sheep?", True),
        ("Where do the authors of the study of sheep work?", True),
        ("Who conducted the interviews with shepherds?", False),
        ("Which sheep stood behind the fence?", False),
    ],
)
def test_who_did_a_study_is_asked_of_its_title_page(
    question: str, *, asks: bool, reading: ReadQuestion
) -> None:
    """Who did something within a study stands in its text, not on its title page."""
    assert (QuestionKind.PUBLICATION in reading(question).kinds) is asks


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which papers use the Veldt library?", "Veldt library"),
        ("How many studies mention moss?", "mention moss"),
        ("In which papers was the Veldt library used?", "Veldt library"),
        ("List all the articles that report growth of moss.", "growth of moss"),
    ],
)
def test_a_question_about_papers_is_asked_of_each(question: str, asked: str) -> None:
    """No sentence of a paper says which papers do something."""
    assert asks_which_papers(question)
    assert asked_of_each(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "How many studies were included in the review?",
        "How many trials were identified?",
        "Which paper is oldest?",
    ],
)
def test_what_a_review_counts_is_asked_of_no_corpus(question: str) -> None:
    """The corpus was counted in place of the studies of a review."""
    assert not asks_which_papers(question)


def test_the_number_is_told_as_what_was_found_at_least() -> None:
    """A search never proves that there is no further paper."""
    assert counted("How many papers used Veldt?", 3) == "At least three papers used Veldt."
    assert counted("In how many papers was Veldt used?", 1) == "At least one paper (“Veldt”)."
    assert counted("Which papers used Veldt?", 3) == ""
