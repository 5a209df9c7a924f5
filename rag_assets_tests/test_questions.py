"""Reading question files."""

import json
from pathlib import Path

import pytest

from rag_assets.errors import InvalidQuestions, MissingInput
from rag_assets.questions import (
    Question,
    QuestionPart,
    asks_about_publication,
    asks_about_statements,
    asks_for_a_definition,
    asks_for_findings,
    load_questions,
    question_parts,
)


def test_questions_are_read_in_order_with_what_is_expected(tmp_path: Path) -> None:
    """Blank lines and a byte order mark do no harm."""
    path = tmp_path / "q.jsonl"
    path.write_text(
        '\ufeff{"id": "b", "question": " Why? "}\n\n'
        '{"id": 7, "question": "How?", "paper_ids": ["x"], "key_facts": [["60", "sixty"]]}\n',
        encoding="utf-8",
    )

    first, second = load_questions(path)

    assert (first.id, first.question, first.paper_ids, first.answerable) == ("b", "Why?", None, None)
    assert (second.id, second.paper_ids, second.key_facts) == ("7", ("x",), (("60", "sixty"),))
    assert (first.is_labelled, second.is_labelled) == (False, True)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"id": "a"}', "line 1: question: Field required"),
        ('{"id": "", "question": "x"}', "line 1: id: String should have at least 1 character"),
        ("not json", "line 1: the line: Invalid JSON"),
        ('{"id": "a", "question": "x", "answerble": false}', "line 1: answerble: there is no such key; is answerable"),
        ('{"id": "a", "question": "x", "expected": [{"paper": "p"}]}', "line 1: expected.0.paper_id: Field required; "),
        (
            '{"id": "a", "question": "x", "expected": [{"paper_id": "p", "page": [2]}]}',
            "line 1: expected.0.page: there",
        ),
        ('{"id": "a", "question": "x", "zzz": 1}', "line 1: zzz: there is no such key; known keys are id, question"),
        (
            '{"id": "a", "question": "x", "where": "page:x"}',
            "line 1: where: The filter cannot be used at page:x: ",
        ),
        ('{"id": "a", "question": "x"}\n{"id": "a", "question": "y"}', 'line 2: the id "a" occurred before'),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, content: str, problem: str) -> None:
    """In a file of a thousand questions, "invalid JSON" alone helps nobody."""
    path = tmp_path / "q.jsonl"
    path.write_text(content)

    with pytest.raises(InvalidQuestions) as caught:
        load_questions(path)

    assert str(caught.value).startswith(f"{path}, line ")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "searched"),
    [
        ({}, ""),
        ({"paper_ids": ["a", "b c"]}, 'paper:a,"b c"'),
        ({"where": "section:results"}, "section:results"),
        ({"paper_ids": ["a"], "where": "page:3 paper:b"}, "paper:a page:3 paper:b"),
    ],
)
def test_papers_and_filter_of_a_question_both_hold(tmp_path: Path, keys: dict[str, object], searched: str) -> None:
    """One that replaces the other answers from papers that were left out on purpose."""
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"id": "a", "question": "x", **keys}))

    (question,) = load_questions(path)

    assert str(question.filter) == searched
    assert Question.model_validate_json(question.model_dump_json()) == question


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_a_file_without_questions_is_refused(tmp_path: Path, content: str) -> None:
    """It would replace the published answers by none, and call it a success."""
    path = tmp_path / "q.jsonl"
    path.write_text(content, "utf-8")

    with pytest.raises(InvalidQuestions, match=r"q\.jsonl holds no question\. Write one JSON object per line"):
        load_questions(path)


def test_keys_of_other_tools_are_passed_over_where_that_is_asked_for(tmp_path: Path) -> None:
    """Batch retrieval reads files of expectations that other programs wrote."""
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "a", "question": "x", "gold_page": 3}\n')

    [question] = load_questions(path, unknown_keys="ignore")

    assert question.id == "a"


def test_a_folder_is_no_question_file(tmp_path: Path) -> None:
    """A traceback would not say which setting names it."""
    with pytest.raises(InvalidQuestions, match="cannot be read as a question file"):
        load_questions(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """With the way to make one."""
    with pytest.raises(MissingInput, match=r"absent\.jsonl does not exist. Write one JSON object"):
        load_questions(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Why is BM25 scaled, and who proposed the scaling method?",
            ["Why is BM25 scaled?", "who proposed the scaling method?"],
        ),
        (
            "What is done about hyphens: those inside a code, and those at line ends?",
            ["What is done about hyphens: those inside a code?", "What is done about hyphens: those at line ends?"],
        ),
        ("Which k is usual in fusion, and how was it chosen?", None),
        ("What are precision and recall at ten?", None),
        ("Which methods were tested and were found to work well?", None),
        ("What is it and why?", None),
    ],
)
def test_a_compound_question_is_taken_apart(question: str, parts: list[str] | None) -> None:
    """But only where each part still asks something."""
    found = [part.searched for part in question_parts(question)]

    if parts is None:
        assert question in found
        assert all(len(part.split()) >= 4 for part in found)
    else:
        assert found == parts


def test_a_part_that_points_back_is_searched_as_the_whole_question_and_named_as_it_was_asked() -> None:
    """A note that names the whole question beside its answer contradicts itself."""
    question = "Which k is usual in fusion, and how was it chosen?"

    first, second = question_parts(question)

    assert first == QuestionPart(*["Which k is usual in fusion?"] * 3)
    assert second == QuestionPart("how was it chosen?", question, "how was it chosen?")


@pytest.mark.parametrize(
    "second",
    [
        "is it necessary to handle the operating panel of the machine with care?",
        "would it be very dangerous for children to touch the operating panel?",
        "how many minutes does it take a new user to descale the coffee machine?",
    ],
)
def test_an_it_that_stands_for_nothing_does_not_point_back(second: str) -> None:
    """Searched as the whole question, the part finds what the other part asks for."""
    parts = question_parts(f"Which valve did Harper use, and {second}")

    assert [part.searched for part in parts] == ["Which valve did Harper use?", second]


@pytest.mark.parametrize(
    "second", ["is it recommended?", "how long does it take?", "was it dangerous to the people in the plant?"]
)
def test_an_it_that_stands_for_something_points_back(second: str) -> None:
    """ "Is it recommended?" cannot be searched by itself."""
    question = f"Which valve did Harper use, and {second}"

    assert question_parts(question)[-1].searched == question


@pytest.mark.parametrize(
    ("question", "is_about_publication"),
    [
        ("Who wrote the trial of iron in winter?", True),
        ("Who are the authors of the ferritin study?", True),
        ("Which university are the authors affiliated with?", True),
        ("When was the trial of iron in winter published?", True),
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
    question: str, is_about_publication: bool
) -> None:
    """Title pages are searched for the former alone; among the latter they would displace what answers."""
    assert asks_about_publication(question) is is_about_publication


@pytest.mark.parametrize(
    ("question", "is_about_statements"),
    [
        ("Who funded the trial?", True),
        ("Were the analyses registered in advance?", True),
        ("Where can the data of the ferry study be obtained?", True),
        ("Where can one get the sequences of the ferry study?", True),
        ("Where can you find the instructions for weighing?", False),
        ("Do the authors have competing interests?", True),
        ("Which ethics committee approved the study?", True),
        ("Who collected the data of the ferry study?", True),
        ("Which author drafted the manuscript?", True),
        ("How much did ferritin fall in winter?", False),
        ("Which data were used to train the model?", False),
    ],
)
def test_questions_about_statements_are_told(question: str, *, is_about_statements: bool) -> None:
    """Statements are searched only for these: a kind of question that is missed is refused."""
    assert asks_about_statements(question) is is_about_statements


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What did the trial of iron in winter find?", True),
        ("and what does the ferry study show overall?", True),
        ("What are the main findings of the review of iron?", True),
        ("What were the results of the ferry experiment?", True),
        ('What does "Iron in winter: a trial, and more" conclude?', True),
        ('What are the main findings of the book "Iron in winter"?', True),
        ("What did the trial find about lambs?", False),
        ("What did Lund find?", False),
        ("What were the results of the blood test?", False),
        ("What were the results of the blood test in the trial?", False),
        ("What did the nurses in the survey report?", False),
        ("What does Table 2 of the survey show?", False),
        ("What does the menu in the guide show?", False),
    ],
)
def test_questions_about_all_that_a_paper_found_are_recognised(question: str, *, asks: bool) -> None:
    """They are answered by the paper's conclusions; what it found about one thing may stand anywhere in it."""
    assert asks_for_findings(question) is asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is meant by herd memory?", True),
        ("What does HMS stand for?", True),
        ("How do the authors define herd memory?", True),
        ("What is a salt lick?", True),
        ("What is the mean ferritin of the sheep in the northern pasture?", False),
        ("Why does ferritin fall?", False),
    ],
)
def test_questions_about_the_meaning_of_a_name_are_recognised(question: str, *, asks: bool) -> None:
    """A name is defined where it is used first: the beginning of its paper is read for them."""
    assert asks_for_a_definition(question) is asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Who carried out the study of sheep?", True),
        ("Who conducted the large survey of herds in the valley?", True),
        ("Who are the people behind the herd book?", True),
        ("Where do the authors of the study of sheep work?", True),
        ("Who conducted the interviews with shepherds?", False),
        ("Which sheep stood behind the fence?", False),
    ],
)
def test_who_did_a_study_is_asked_of_its_title_page(question: str, *, asks: bool) -> None:
    """Who did something within a study stands in its text, not on its title page."""
    assert asks_about_publication(question) is asks
