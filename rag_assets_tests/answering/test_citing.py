"""Answers in the style of citing that the user chose: marks in the text, and the references below."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from rag_assets.answering.citing import CitationStyle, papers_cited
from rag_assets.answering.wording import place_of, worded
from rag_assets.core.domain import Citation, Claim, Person, QAResult, Record, Verification
from rag_assets.core.errors import InvalidSelection
from rag_assets.core.settings import Settings, load_settings
from rag_assets.core.table_files import write_table
from rag_assets.core.tables import PAPERS, to_table

IRON = Record(
    title="Iron in winter",
    authors=(Person("Lund", "Ada"), Person("Moe", "Bo")),
    year=2019,
    venue="Blood",
    volume="3",
    pages="1-9",
    type="article-journal",
)
RECORDS = {
    "moss": Record(title="Moss in spring", year=2020),
    "iron": IRON,
    "iron2": replace(IRON, title="Iron in summer", volume="4"),
}


def claim(text: str, *papers: str) -> Claim:
    cited = (
        Citation(
            paper,
            f"{paper}:1",
            3,
            3,
            "quote",
            (),
            Verification.EXACT,
            start=0,
            end=5,
            cited_as="Stored (1999)",
        )
        for paper in papers
    )
    return Claim(text, tuple(cited))


def answer(*claims: Claim, nearest: tuple[Claim, ...] = ()) -> QAResult:
    text = worded(claims, ())
    return QAResult("q1", "Why?", text, claims, False, False, (), (), "m", ("c",), "f", nearest=nearest)


def style(name: str, data: Path) -> CitationStyle:
    settings: Settings = load_settings({"data_dir": str(data), "answering": {"citation_style": name}})
    settings.paths.cache.mkdir(exist_ok=True)
    rows = [{"paper_id": paper, **asdict(record)} for paper, record in RECORDS.items()]
    write_table(to_table(rows, PAPERS), settings.paths.records, {})
    return CitationStyle(settings)


ANSWER = answer(claim("Iron falls.", "iron"), claim("Moss grows.", "moss"), claim("Both.", "moss", "iron"))


@pytest.mark.parametrize(
    ("name", "text", "references"),
    [
        (
            "numeric",
            "Iron falls. [1, p. 3] Moss grows. [2, p. 3] Both. [2, p. 3; 1, p. 3]",
            ["[1] Ada Lund, Bo Moe. Iron in winter. Blood 3, 1-9, 2019.", "[2] Moss in spring. 2020."],
        ),
        (
            "apa",
            "Iron falls. (Lund & Moe, 2019, p. 3) Moss grows. (Moss in Spring, 2020, p. 3) "
            "Both. (Moss in Spring, 2020, p. 3; Lund & Moe, 2019, p. 3)",
            ["Lund, A., & Moe, B. (2019). Iron in winter. Blood, 3, 1–9.", "Moss in spring. (2020)."],
        ),
        (
            "nature",
            "Iron falls. [1, p. 3] Moss grows. [2, p. 3] Both. [2, p. 3; 1, p. 3]",
            ["1. Lund, A. & Moe, B. Iron in winter. Blood 3, 1–9 (2019).", "2. Moss in spring. (2020)."],
        ),
        (
            "vancouver",
            "Iron falls. [1, p. 3] Moss grows. [2, p. 3] Both. [2, p. 3; 1, p. 3]",
            ["[1] Lund A, Moe B. Iron in winter. Blood 2019;3:1–9.", "[2] Moss in spring 2020."],
        ),
    ],
)
def test_an_answer_is_shown_in_each_style(tmp_path: Path, name: str, text: str, references: list[str]) -> None:
    """A scientist pastes it into a text for a journal; a mark that no entry of the list bears says nothing."""
    shown = style(name, tmp_path).shown([ANSWER])

    assert shown.results[0].answer == text
    assert list(shown.references) == references


def test_by_authors_and_year_an_answer_is_as_it_is_stored(tmp_path: Path) -> None:
    """Nothing more is installed or read for the default."""
    shown = CitationStyle(load_settings({"data_dir": str(tmp_path)})).shown([ANSWER])

    assert shown.results == (ANSWER,)
    assert not shown.references


def test_another_style_asks_no_question_again() -> None:
    """A model would be paid for other brackets."""
    plain, apa = (load_settings({"answering": {"citation_style": one}}) for one in ("author-year", "apa"))

    assert plain.answering.fingerprint() == apa.answering.fingerprint()


def test_papers_of_one_name_and_year_are_told_apart(tmp_path: Path) -> None:
    """Both would be (Lund & Moe, 2019)."""
    shown = style("apa", tmp_path).shown([answer(claim("It falls.", "iron"), claim("It rises.", "iron2", "moss"))])

    assert shown.results[0].answer == (
        "It falls. (Lund & Moe, 2019b, p. 3) It rises. (Lund & Moe, 2019a, p. 3; Moss in Spring, 2020, p. 3)"
    )
    assert [entry[:43] for entry in shown.references[:2]] == [
        "Lund, A., & Moe, B. (2019a). Iron in summer",
        "Lund, A., & Moe, B. (2019b). Iron in winter",
    ]


def test_what_came_near_is_cited_behind_the_answer(tmp_path: Path) -> None:
    """It is no part of the answer, whose numbers begin at one."""
    shown = style("numeric", tmp_path).shown([answer(claim("It falls.", "iron"), nearest=(claim("Near.", "moss"),))])

    (near,) = shown.results[0].nearest
    assert place_of(near.citations[0]) == "[2, p. 3]"
    assert len(shown.references) == 2


def test_a_kept_row_of_an_unknown_form_is_shown_as_it_is(tmp_path: Path) -> None:
    """Conversations are kept for years."""
    assert style("numeric", tmp_path).shown_row({"answer": "Yes."}) == {"answer": "Yes.", "references": ()}


def test_an_unknown_style_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    """A model would be paid for an answer that nobody sees."""
    with pytest.raises(InvalidSelection, match="no style harvard-of-nowhere"):
        style("harvard-of-nowhere", tmp_path)


@pytest.mark.parametrize(
    "rules",
    [
        "",
        '<citation><layout><text variable="title"/></layout></citation>',
        '<macro name="a"><text macro="a"/></macro><citation><layout><text macro="a"/></layout></citation>'
        "<bibliography><layout/></bibliography>",
        '<citation><layout><text macro="none"/></layout></citation><bibliography><layout/></bibliography>',
    ],
    ids=["empty", "no list", "a macro in itself", "a macro that is not there"],
)
@pytest.mark.parametrize("namespace", ["http://purl.org/net/xbiblio/csl", "other"])
def test_a_broken_style_is_told_before_anything_is_asked(tmp_path: Path, rules: str, namespace: str) -> None:
    """citeproc-py fails on it only when the answer is written."""
    (tmp_path / "own.csl").write_text(f'<style xmlns="{namespace}" version="1.0" class="in-text">{rules}</style>')

    with pytest.raises(InvalidSelection, match="no CSL style that can be used"):
        style(str(tmp_path / "own.csl"), tmp_path)


def test_a_title_with_brackets_keeps_its_page_in_the_brackets_of_the_style() -> None:
    """In APA a title stands for missing authors: "[(Moss (in) [spring], 2020), p. 3]" is no mark of that style."""
    cited = replace(claim("", "moss").citations[0], cited_as="(Moss (in) [spring], 2020)")

    assert place_of(cited) == "(Moss (in) [spring], 2020, p. 3)"


def test_papers_are_in_the_order_of_their_first_citation() -> None:
    assert papers_cited([ANSWER]) == ["iron", "moss"]
