"""What the header of a TEI file says about the paper becomes its title page."""

from pathlib import Path

import pytest

from rag_assets.core.domain import BlockKind, Zone
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
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{description}</teiHeader>{text}</TEI>'


def test_the_header_of_grobid_becomes_the_title_page(tmp_path: Path) -> None:
    """GROBID keeps the authors in the header alone: without it the corpus cannot say who wrote a paper."""
    first, *_ = parsed(tmp_path, tei(GROBID)).blocks

    assert (first.kind, first.zone, first.section_path) == (BlockKind.LIST, Zone.TITLE_PAGE, ("Title page",))
    assert first.text.splitlines() == [
        "Title: Iron in Winter",
        "Authors: Ana B Sun; Li Moon",
        "Affiliations: North College; Nameless Institute",
        "Published in: Journal of Winter",
        "Publication date: 2019-03-04",
        "DOI: 10.1000/winter",
    ]


def test_a_title_page_has_no_page(tmp_path: Path) -> None:
    """A header may come from a catalogue: a page number for it would be invented."""
    first, *_ = parsed(tmp_path, tei(GROBID)).blocks

    assert [(span.page_start, span.page_end) for span in first.spans] == [(None, None)]


def test_authors_of_hand_written_tei_stand_in_the_title_statement(tmp_path: Path) -> None:
    """TEI written by people names the authors of the file, in two forms."""
    authors = "<author>Stone, Ada (1892-1933)</author><author><persName>Bo Reed</persName></author>"
    content = tei("").replace("</titleStmt>", f"{authors}</titleStmt>")

    first, *_ = parsed(tmp_path, content).blocks

    assert "Authors: Stone, Ada (1892-1933); Bo Reed" in first.text.splitlines()


def test_a_header_without_authors_makes_no_title_page(tmp_path: Path) -> None:
    """A title alone is in every table already, and would only compete with the text of the paper."""
    document = parsed(tmp_path, tei("<publicationStmt><date when='2020'/></publicationStmt>"))

    assert all(block.zone is not Zone.TITLE_PAGE for block in document.blocks)


def test_a_title_page_does_not_make_an_empty_paper_readable(tmp_path: Path) -> None:
    """A file with a header and no text is quarantined, so that another file of the paper is read."""
    with pytest.raises(UnreadableDocument, match="without text"):
        parsed(tmp_path, tei(GROBID, "<text><body/></text>"))


def test_a_statement_too_long_to_be_one_is_left_out(tmp_path: Path) -> None:
    """Faulty files hold paragraphs where a name should be."""
    content = tei(GROBID.replace("<surname>Moon</surname>", f"<surname>{WORDS * 5}</surname>"))

    first, *_ = parsed(tmp_path, content).blocks

    assert "Authors: Ana B Sun" in first.text.splitlines()


def test_the_date_of_an_electronic_edition_is_not_that_of_the_work(tmp_path: Path) -> None:
    """A novel of 1895 would be said to have appeared when somebody typed it in."""
    edition = '<publicationStmt><date when="2021-04-09"/></publicationStmt>'
    content = tei(edition).replace("</titleStmt>", "<author>Stone, Ada</author></titleStmt>")

    first, *_ = parsed(tmp_path, content).blocks

    assert first.text.splitlines() == ["Title: Iron in Winter", "Authors: Stone, Ada"]


def test_an_attribute_cannot_add_a_statement(tmp_path: Path) -> None:
    """A line break in an attribute would put words of a file behind a label of ours."""
    first, *_ = parsed(tmp_path, tei(GROBID.replace("2019-03-04", "2019&#10;Authors: Nobody"))).blocks

    assert [line for line in first.text.splitlines() if line.startswith("Authors")] == ["Authors: Ana B Sun; Li Moon"]
