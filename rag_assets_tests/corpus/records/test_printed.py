"""Headers held against the printed first page."""

from dataclasses import replace
from typing import Any

import pytest

from rag_assets.core.domain import (
    Block,
    BlockKind,
    Document,
    Person,
    PrintedFront,
    Record,
    SourceFormat,
    Span,
)
from rag_assets.corpus.records.printed import record_of

TITLE = "Iron in the blood of mountain sheep"
STATED = Record(
    title=TITLE,
    authors=(Person("Lund", "Ada"), Person("Moe", "Bo")),
    year=2019,
    doi="10.1234/iron.7",
)
LINES = ("Journal of Winter", TITLE, "Ada Lund, Bo Moe", "Winter Institute of Iron")
TEXT = f"Vol. 3 (2019)\n{TITLE}\nAda Lund, Bo Moe\nhttps://doi.org/10.1234/iron.7"
PRINTED = PrintedFront(TITLE, LINES, TEXT)


def found(printed: PrintedFront | None = PRINTED, **stated: Any) -> Record:
    """What is known of a paper with this page, whose header states something else."""
    header = replace(STATED, **stated)
    document = Document(
        "lund", "", SourceFormat.TEI, "lund.xml", (), header=header, printed=printed
    )
    return record_of(document, None)[0]


def page(**changes: Any) -> PrintedFront:
    return replace(PRINTED, **changes)


def on_page(*texts: str) -> tuple[Block, ...]:
    return tuple(
        Block(BlockKind.PARAGRAPH, text, spans=(Span(0, len(text), 1, 1),)) for text in texts
    )


def families(record: Record) -> list[str]:
    return [person.family for person in record.authors]


def test_an_author_whom_the_header_lost_is_read_from_the_page() -> None:
    """GROBID loses first authors: a citation would name the second one."""
    assert families(found(authors=(Person("Moe", "Bo"),))) == ["Lund", "Moe"]


def test_a_family_name_is_whole() -> None:
    """A header has "Balso" where the page has "Del Balso"."""
    lines = (TITLE, "Ada Del Balso, Bo Moe")

    assert families(
        found(page(lines=lines), authors=(Person("Balso", "Ada Del"), Person("Moe", "Bo")))
    ) == ["Del Balso", "Moe"]


def test_authors_that_the_page_may_contradict_are_left_out() -> None:
    """Names that run into each other hide one that the header has not."""
    lines = (TITLE, "Ada Lund Dag Ek Bo Moe")

    assert found(page(lines=lines)).authors == ()
    assert families(found(page(lines=(TITLE, "Ada Lund Bo Moe Iron Institute")))) == ["Lund", "Moe"]


def test_without_a_page_a_header_names_persons_only() -> None:
    """A reader of pages takes a place of work for an author, or reads a list twice."""
    institute = Person("Research", "Winter AI")

    piece = Person("Lu", "Ada")

    assert families(found(None, authors=(institute, *STATED.authors, piece))) == [
        "Lund",
        "Moe",
    ]
    assert families(found(None, authors=STATED.authors * 2)) == []


def test_the_year_is_the_printed_one() -> None:
    """A header has the year of the download, or none."""
    downloaded = page(text=f"{TEXT}\nDownloaded on 3 May 2025")

    assert found(downloaded, year=2025).year == 2019
    assert found(year=None).year == 2019
    assert found(page(text="Vol. 3 (2021)")).year == 2021
    assert found(page(text="Vol. 3 (2021)\nVol. 4 (2022)"), year=None).year is None


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2019-06-21", 2019),
        ("the volume of iron (Moe et al., 2007) fell\nVol. 3 (2019)", 2019),
        ("Received in revised form\n28 December 2018\nAll rights reserved 2019", 2019),
        ("31st Conference on Iron (WINTER 2019)", 2019),
        ("Seasons 2018-19\nVol. 3", None),
        ("Annals of Winter 160 (2019), 17-46", 2019),
        ("06/16/2019", 2019),
        ("(Moe, Ek,\nLund 2019)", None),
    ],
)
def test_a_year_of_something_else_is_not_that_of_the_paper(text: str, year: int | None) -> None:
    assert found(page(text=text), year=None).year == year


@pytest.mark.parametrize(
    ("text", "metadata", "year"),
    [
        ("Version 2.1, 6 March 2019", "D:20190307", 2019),
        ("Version 2.1, 6 March 2019", "D:20230307", None),
        ("Received 6 March 2019", "D:20190307", None),
        ("4.5% Notes due 2019", "D:20190307", None),
        ("© 2017 Winter Press\nVersion 2.1, 6 March 2019", "D:20190307", None),
        ("© 2017\n160 (2019), 17-46\nhttps://doi.org/10.1234/iron.2019.7", "", 2019),
    ],
)
def test_a_year_is_certain_or_null(text: str, metadata: str, year: int | None) -> None:
    """A date beside other words counts if the file or the DOI says the same year."""
    assert found(page(text=text, metadata=metadata), year=None).year == year


def test_the_doi_is_the_printed_one() -> None:
    """A header cuts a DOI off, or has that of a template."""
    assert found(doi="10.1234/iron").doi == "10.1234/iron.7"
    assert found(doi="10.9999/other").doi == "10.1234/iron.7"
    assert found(None, doi="10.1145/nnnnnnn.nnnnnnn").doi is None
    placeholder = page(text="https://doi.org/10.1234/iron.v0i0.0")
    assert found(placeholder, doi=None).doi is None


def test_a_doi_ends_where_its_words_end() -> None:
    """A page prints the address of the journal right behind the DOI."""
    doi, behind = "10.1234/2019017", "winter.org."
    printed = page(text=f"doi:{doi}{behind}")

    assert found(None, doi=f"{doi}{behind}").doi == doi
    assert found(printed, doi=None).doi == doi


@pytest.mark.parametrize(
    ("file_name", "doi"),
    [
        ("20190176", None),
        ("20190177", "10.1234/20190177"),
        ("99999999", "10.1234/20190177"),
        ("lund", "10.1234/20190177"),
    ],
)
def test_the_name_of_a_file_contradicts_a_doi(file_name: str, doi: str | None) -> None:
    """A header has the DOI of the correction that is attached to the article."""
    document = Document("lund", "", SourceFormat.TEI, f"folder/{file_name}.tei.xml", ())
    header = replace(STATED, doi="10.1234/20190177")

    assert record_of(replace(document, header=header), None)[0].doi == doi


def test_the_title_is_that_of_the_page() -> None:
    """A header takes the name of the journal for the title, or appends an author to it."""
    assert found(title="Journal of Winter").title == TITLE
    assert found(title=f"{TITLE} Ada Lund").title == TITLE
    assert found(page(title="Iron in the blood")).title == TITLE
    assert found(page(title="")).title == TITLE
    assert found(page(title=""), title="Snow").title is None


def test_a_paper_without_a_header_is_read_from_its_first_page() -> None:
    """PDF, ADE and Docling files have none."""
    document = Document(
        "lund",
        TITLE,
        SourceFormat.ADE,
        "lund.json",
        on_page(TITLE, "Ada Lund, Bo Moe"),
        margins=("Winter 3, May 2019 | Volume 3",),
    )

    record, sources = record_of(document, "Iron falls.")

    assert (record.title, families(record), record.year, record.abstract) == (
        TITLE,
        ["Lund", "Moe"],
        2019,
        "Iron falls.",
    )
    assert sources["authors"] == "first page"


def test_a_docling_file_is_checked_against_its_pdf() -> None:
    """Docling takes the name of the journal for the title, and knows no metadata."""
    document = Document("lund", "Journal of Winter", SourceFormat.DOCLING, "lund.json", ())
    printed = page(text=TITLE, metadata="doi:10.1234/iron.7")

    record, _ = record_of(replace(document, printed=printed), None)

    assert (record.title, families(record), record.doi) == (
        TITLE,
        ["Lund", "Moe"],
        "10.1234/iron.7",
    )


def said_by_itself(title: str, *texts: str) -> str | None:
    document = Document("lund", title, SourceFormat.MARKDOWN, "lund.md", on_page(*texts))
    return record_of(document, None)[0].retracted


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (f"RETRACTED: {TITLE}", ""),
        (f"Retracted article: {TITLE}", ""),
        (f"[Retracted] {TITLE}", ""),
        (f"{TITLE} (Retracted article. See vol. 4)", ""),
        (f"Retraction: {TITLE}", ""),
        (TITLE, "RETRACTED"),
        (TITLE, "R E T R A C T E D"),
        (TITLE, "Retracted Article"),
        (TITLE, "This article has been retracted at the request of its authors."),
        (TITLE, "Retraction notice: this paper was formally retracted in 2021."),
        (TITLE, "The Editors have retracted this article because its figures were drawn twice."),
        (TITLE, "Retraction: Figure 2 of the paper was made up."),
    ],
)
def test_a_paper_that_says_itself_that_it_was_retracted_is_marked_with_the_place(
    title: str, text: str
) -> None:
    """Without a list of retractions, its findings were quoted like those of every other paper."""
    place = "p. 1" if text else "title"

    assert said_by_itself(title, "Ada Lund, Bo Moe", text) == f"the paper itself, {place}"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (TITLE, "The study by Ek (2010) has been retracted. Its sheep were counted twice."),
        (TITLE, "We left out two trials, since the paper of Ek was retracted."),
        (TITLE, "Ek D. Retraction: Iron in goats. Blood 2010; 3: 1-9."),
        ("Retraction of the tongue in sheep", "The tongue is retracted by one muscle."),
        (
            "Retracted papers: who cites them?",
            "Retracted papers are cited. Retractions are rare; retracted articles not.",
        ),
        (
            "Why this article has been retracted: a study of notices",
            "Retractions rise. Retracted papers live on.",
        ),
        (
            "Retraction: Causes and cures",
            "Retractions rise each year. Retracted articles are cited, and retractions not.",
        ),
    ],
)
def test_a_paper_about_the_retraction_of_others_is_not_marked(title: str, text: str) -> None:
    """A mark on a sound paper discredits what it found."""
    assert said_by_itself(title, "Ada Lund, Bo Moe", text) is None
