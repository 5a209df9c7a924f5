"""What the header of a TEI file states about the paper as a publication."""

import pytest

from rag_assets.core.domain import Person, Record
from rag_assets.core.errors import UnreadableDocument
from rag_assets_testing.papers.tei import WORDS, parsed

BODY = f"<text><body><div><head>Results</head><p>{WORDS}</p></div></body></text>"
GROBID = """<sourceDesc><biblStruct><analytic>
<author>
<persName><forename type="first">Ana</forename><forename type="middle">B</forename><surname>Sun</surname></persName>
<affiliation><orgName type="department">Iron Unit</orgName>
<orgName type="institution">North College</orgName></affiliation>
</author>
<author><persName><forename>Li</forename><surname>Moon</surname></persName>
<affiliation><orgName type="institution">North College</orgName></affiliation></author>
<author><affiliation><orgName type="institution">Nameless Institute</orgName></affiliation></author>
</analytic><monogr><title level="j">Journal of Winter</title>
<imprint><date type="published" when="2019-03-04">March 2019</date></imprint></monogr>
<idno type="MD5">0A</idno><idno type="DOI">10.1000/winter</idno></biblStruct></sourceDesc>"""


def tei(header: str, text: str = BODY) -> str:
    title = '<titleStmt><title type="main">Iron in Winter</title></titleStmt>'
    description = f"<fileDesc>{title}{header}</fileDesc>"
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{description}</teiHeader>{text}</TEI>'
    )


def header(content: str) -> Record:
    return parsed(content).header


def test_the_header_of_grobid_is_the_record() -> None:
    """GROBID keeps the authors in the header alone: without it the corpus cannot say who wrote a
    paper."""
    found = header(tei(GROBID))

    assert found == Record(
        title="Iron in Winter",
        authors=(
            Person("Sun", "Ana B", affiliation="North College"),
            Person("Moon", "Li", affiliation="North College"),
        ),
        year=2019,
        venue="Journal of Winter",
        doi="10.1000/winter",
        type="article-journal",
    )


def test_authors_without_a_name_and_funders_are_nobody() -> None:
    """GROBID writes up to eleven authors without a name, and funders among them."""
    nobody = "<author><orgName type='funder'>Winter Fund</orgName></author><author/><author><email>a@b.c</email></author>"
    collaboration = "<author><orgName type='collaboration'>The Winter Group</orgName></author>"

    found = header(tei(GROBID.replace("</analytic>", f"{nobody}{collaboration}</analytic>")))

    assert [person.name for person in found.authors] == ["Ana B Sun", "Li Moon", "The Winter Group"]


def test_authors_of_hand_written_tei_stand_in_the_title_statement() -> None:
    """TEI written by people names the authors of the file, in two forms."""
    authors = "<author>Stone, Ada (1892-1933)</author><author><persName>Bo Reed</persName></author>"

    found = header(tei("").replace("</titleStmt>", f"{authors}</titleStmt>"))

    assert [person.name for person in found.authors] == ["Stone, Ada (1892-1933)", "Bo Reed"]


def test_a_title_page_does_not_make_an_empty_paper_readable() -> None:
    """A file with a header and no text is quarantined, so that another file of the paper is
    read."""
    with pytest.raises(UnreadableDocument, match="without text"):
        parsed(tei(GROBID, "<text><body/></text>"))


def test_the_date_of_an_electronic_edition_is_not_that_of_the_work() -> None:
    """A novel of 1895 would be said to have appeared when somebody typed it in."""
    edition = '<publicationStmt><date when="2021-04-09"/></publicationStmt>'
    content = tei(edition).replace("</titleStmt>", "<author>Stone, Ada</author></titleStmt>")

    assert header(content).year is None
