"""Answers in the style of citing that the user chose: marks in the text, and the references
below."""

from dataclasses import asdict, replace
from pathlib import Path

from rag_assets.answering.wording import CitationStyle, papers_cited, place_of, worded
from rag_assets.core.domain import Claim, Person, QAResult, Record
from rag_assets.core.settings import Settings, load_settings
from rag_assets.core.table_files import write_table
from rag_assets.core.tables import PAPERS, to_table
from rag_assets_testing.citations import answer_of, cited

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
}


def claim(text: str, *papers: str) -> Claim:
    return Claim(
        text, tuple(cited("quote", paper, 3, cited_as="Stored (1999)") for paper in papers)
    )


def answer(*claims: Claim, nearest: tuple[Claim, ...] = ()) -> QAResult:
    return answer_of(*claims, answer=worded(claims, ()), nearest=nearest)


def style(name: str, data: Path) -> CitationStyle:
    settings: Settings = load_settings(
        {"data_dir": str(data), "answering": {"citation_style": name}}
    )
    settings.paths.cache.mkdir(exist_ok=True)
    rows = [{"paper_id": paper, **asdict(record)} for paper, record in RECORDS.items()]
    write_table(to_table(rows, PAPERS), settings.paths.records, {})
    return CitationStyle(settings)


ANSWER = answer(
    claim("Iron falls.", "iron"), claim("Moss grows.", "moss"), claim("Both.", "moss", "iron")
)


def test_an_answer_is_shown_with_numbers_and_the_list_below_it(tmp_path: Path) -> None:
    """A mark that no entry of the list bears says nothing."""
    shown = style("numeric", tmp_path).shown([ANSWER])

    assert (
        shown.results[0].answer
        == "Iron falls. [1, p. 3] Moss grows. [2, p. 3] Both. [2, p. 3; 1, p. 3]"
    )
    assert list(shown.references) == [
        "[1] Ada Lund, Bo Moe. Iron in winter. Blood 3, 1-9, 2019.",
        "[2] Moss in spring. 2020.",
    ]


def test_by_authors_and_year_an_answer_is_as_it_is_stored(tmp_path: Path) -> None:
    """Nothing more is installed or read for the default."""
    shown = CitationStyle(load_settings({"data_dir": str(tmp_path)})).shown([ANSWER])

    assert shown.results == (ANSWER,)
    assert not shown.references


def test_what_came_near_is_cited_behind_the_answer(tmp_path: Path) -> None:
    """It is no part of the answer, whose numbers begin at one."""
    shown = style("numeric", tmp_path).shown(
        [answer(claim("It falls.", "iron"), nearest=(claim("Near.", "moss"),))]
    )

    (near,) = shown.results[0].nearest
    assert place_of(near.citations[0]) == "[2, p. 3]"
    assert len(shown.references) == 2


def test_a_title_with_brackets_keeps_its_page_in_the_brackets_of_the_style() -> None:
    """A title stands for missing authors: "[(Moss (in) [spring], 2020), p. 3]" is no mark."""
    cited = replace(claim("", "moss").citations[0], cited_as="(Moss (in) [spring], 2020)")

    assert place_of(cited) == "(Moss (in) [spring], 2020, p. 3)"


def test_papers_are_in_the_order_of_their_first_citation() -> None:
    assert papers_cited([ANSWER]) == ["iron", "moss"]
