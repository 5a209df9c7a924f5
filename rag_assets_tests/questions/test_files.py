"""Reading question files."""

import json
import traceback
from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidQuestions, MissingInput
from rag_assets.core.settings import Settings
from rag_assets.questions import Question, load_questions
from rag_assets.questions.conversations import after_conversation
from rag_assets.questions.files import unasked_notice


def test_questions_are_read_in_order_with_what_is_expected(tmp_path: Path) -> None:
    """Blank lines and a byte order mark do no harm."""
    path = tmp_path / "q.jsonl"
    path.write_text(
        '\ufeff{"id": "b", "question": " Why? "}\n\n'
        '{"id": 7, "question": "How?", "paper_ids": ["x"], "key_facts": [["60", "sixty"]]}\n',
        encoding="utf-8",
    )

    first, second = load_questions(path)

    assert (first.id, first.question, first.paper_ids, first.answerable) == (
        "b",
        "Why?",
        None,
        None,
    )
    assert (second.id, second.paper_ids, second.key_facts) == ("7", ("x",), (("60", "sixty"),))
    assert (first.is_labelled, second.is_labelled) == (False, True)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"id": "a"}', "line 1: question: Field required"),
        ('{"id": "", "question": "x"}', "line 1: id: String should have at least 1 character"),
        (
            '{"id": "a", "question": "x", "where": "bogus:1"}',
            'no field "bogus". Known are paper, source, section, page, author, year, venue, type, language. ',
        ),
        ("not json", "line 1: the line: Invalid JSON"),
        (
            '{"id": "a", "question": "x", "expected": [{"paper": "p"}]}',
            "line 1: expected.0.paper_id: Field required.",
        ),
        (
            '{"id": "a", "question": "x", "where": "page:x"}',
            "line 1: where: The filter cannot be used at page:x: ",
        ),
        (
            '{"id": "a", "question": "x"}\n{"id": "a", "question": "y"}',
            'line 2: the id "a" occurred before',
        ),
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


def test_all_lines_that_cannot_be_used_are_named_at_once(tmp_path: Path) -> None:
    """Mending one, running again and reading the next takes as many runs as there are wrong
    lines."""
    path = tmp_path / "q.jsonl"
    path.write_text("not json\n" + '{"id": "a", "question": "x"}\n' + '{"id": "a"}\n' * 30)

    with pytest.raises(InvalidQuestions) as caught:
        load_questions(path)

    first, second, *_, last = str(caught.value).splitlines()
    assert first.startswith(f"{path}, line 1: the line: Invalid JSON")
    assert second == f"{path}, line 3: question: Field required."
    assert last.startswith("... and 11 more lines. Each line is a JSON object")


def test_keys_that_are_not_known_are_told_once_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Thirty lines of refusals, and a run that failed, for the keys of another program; a slip of
    the keyboard in silence would ask without what is expected."""
    path = tmp_path / "q.jsonl"
    line = '{"id": "%s", "question": "x", "answerble": false, "\\u0007note": {"n": [%s]}}\n'
    path.write_text(
        "".join(line % (n, n) for n in range(30))
        + """
        {"id": "a", "question": "x", "expected": [{"paper_id": "p", "page": [2]}]}"""
    )

    questions = [*load_questions(path), *load_questions(path)]

    assert questions[2].given == {"answerble": False, "\x07note": {"n": [2]}}
    assert (questions[30].given, questions[30].expected[0].paper_id) == ({}, "p")
    (told,) = caplog.messages
    assert told.startswith(f"{path}: these keys are not known and change nothing; ")
    assert told.endswith(
        "answerble (perhaps answerable is meant), \N{REPLACEMENT CHARACTER}note, page (perhaps pages is meant)"
    )


def test_an_error_quotes_nothing_of_the_file(tmp_path: Path) -> None:
    """A run can be told to read any file as questions, and its failure is shown in the Dagster
    UI."""
    path = tmp_path / "passwd"
    path.write_text(
        'daemon:x:0:0\n{"id": {"secret": 1}, "secret_key": "secret"}\n"secret"\n{"id": "secret", "where": []}'
    )

    with pytest.raises(InvalidQuestions) as caught:
        load_questions(path)

    told = "".join(traceback.format_exception(caught.value))
    assert "daemon" not in told
    assert "secret" not in told


@pytest.mark.parametrize(
    ("keys", "searched"),
    [
        ({}, ""),
        ({"paper_ids": ["a", "b c"]}, 'paper:a,"b c"'),
        ({"where": "section:results"}, "section:results"),
        ({"paper_ids": ["a"], "where": "page:3 paper:b"}, "paper:a page:3 paper:b"),
    ],
)
def test_papers_and_filter_of_a_question_both_hold(
    tmp_path: Path, keys: dict[str, object], searched: str
) -> None:
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

    with pytest.raises(
        InvalidQuestions, match=r"q\.jsonl holds no question\. Write one JSON object per line"
    ):
        load_questions(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """With the way to make one."""
    with pytest.raises(MissingInput, match=r"absent\.jsonl does not exist. Write one JSON object"):
        load_questions(tmp_path / "absent.jsonl")


def test_what_only_an_evaluation_reads_is_part_of_the_line(tmp_path: Path) -> None:
    """A question with nothing but a reference is judged, too; its earlier turns are asked first."""
    line = {
        "id": "q1",
        "question": "And in the other one?",
        "expected": [{"paper_id": "p", "passages": ["k is 60"]}],
        "forbidden_facts": [["600", "six hundred"]],
        "reference": "It is 60.",
        "tags": ["numbers"],
        "conversation": ["Which k do the papers use?"],
    }
    (tmp_path / "q.jsonl").write_text(
        json.dumps(line) + '\n{"id": "q2", "question": "Why?", "reference": "So."}\n'
    )

    first, second = load_questions(tmp_path / "q.jsonl")

    assert first.model_dump(mode="json", include=set(line)) == {
        **line,
        "expected": [{"paper_id": "p", "pages": [], "passages": ["k is 60"]}],
    }
    assert second.is_labelled
    assert not second.model_copy(update={"reference": None}).is_labelled


def test_a_question_of_a_conversation_means_what_it_means_after_the_questions_before() -> None:
    """Asked alone, "and in that paper?" finds anything."""
    asked: list[str] = []

    def answer(question: Question) -> dict[str, object]:
        asked.append(question.question)
        return {"sources_used": ["smith2020"], "claims": []}

    question = Question(
        id="q", question="What did that paper measure?", conversation=("Who measured ferritin?",)
    )

    meant = after_conversation(question, answer, lambda: None)

    assert asked == ["Who measured ferritin?"]
    assert meant.filter.papers == ("smith2020",)
    assert meant.conversation == ()


def test_a_question_file_with_another_name_is_told_until_it_was_asked(tmp_path: Path) -> None:
    """A newcomer puts questions into a file of his own, runs, and finds the answers to ours."""
    (tmp_path / "questions").mkdir()
    for name in ("smoke", "mine", "asked"):
        (tmp_path / "questions" / f"{name}.jsonl").write_text(
            '{"id": "a", "question": "Why?"}\n', "utf-8"
        )
    (tmp_path / "output" / "asked").mkdir(parents=True)

    by_default = unasked_notice(Settings(data_dir=tmp_path))
    by_setting = unasked_notice(
        Settings(data_dir=tmp_path, questions=tmp_path / "questions" / "mine.jsonl")
    )

    mine, ours = tmp_path / "questions" / "mine.jsonl", tmp_path / "questions" / "smoke.jsonl"
    assert by_default.startswith(f"Runs ask {ours}, and not {mine}. ")
    assert by_default.endswith(f"rag-assets qa --questions {mine}")
    assert by_setting.startswith(f"Runs ask {mine}, and not {ours}. ")
