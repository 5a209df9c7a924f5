"""Raised and lowered digits are written in one way, whatever the format of the file."""

from collections.abc import Callable

import pytest

from rag_assets.core.domain import Document
from rag_assets.parsing.formats.markdown.document import parse_markdown
from rag_assets.parsing.formats.text.document import parse_text
from rag_assets_testing.papers import ade, tei
from rag_assets_testing.papers.contents import read_content

Read = Callable[[str], Document]
SHOWN = "We grew 2 × 10⁵ cells in H₂O with Ca²⁺ at a T1max of PM₂.₅ on the 2nd day."
HTML = (
    "We grew 2 × 10<sup>5</sup> cells in H<sub>2</sub>O with Ca<sup>2+</sup> at a T1<sub>max</sub> of "
    "PM<sub>2.5</sub> on the 2<sup>nd</sup> day."
)
PANDOC = "We grew 2 × 10^5^ cells in H~2~O with Ca^2+^ at a T1max of PM~2.5~ on the 2nd day."
LATEX = (
    "We grew 2 × 10$^{5}$ cells in H$_2$O with Ca$^{2+}$ at a T1max of PM$_{2.5}$ on the 2nd day."
)
TEI = (
    "We grew 2 × 10<hi rend='superscript'>5</hi> cells in H<hi rend='italic sub'>2</hi>O with "
    "Ca<seg style='vertical-align: super'>2+</seg> at a T1<hi rend='sub'>max</hi> of PM<sub>2.5</sub> on the "
    "2<hi rend='sup'>nd</hi> day."
)


def read_tei(text: str) -> Document:
    return tei.parsed(tei.tei(f"<div><p>{text}</p></div>"))


def read_markdown(text: str) -> Document:
    return read_content(parse_markdown, "paper.md", text)


def read_text(text: str) -> Document:
    return read_content(parse_text, "paper.txt", text)


def read_ade(text: str) -> Document:
    return ade.parsed(ade.v1_file([ade.v1_chunk("text", text)]))


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (read_tei, TEI),
        *(
            (read, written)
            for read in (read_markdown, read_ade, read_text)
            for written in (HTML, PANDOC, LATEX)
        ),
        (read_markdown, f"<div>\n{HTML}\n</div>"),
    ],
)
def test_raised_and_lowered_digits_keep_their_place(read: Read, written: str) -> None:
    """105 for 10<sup>5</sup> is another number, and it would be published as the paper's."""
    assert tei.texts(read(written)) == [SHOWN]


@pytest.mark.parametrize("dash", "−-–‑")
@pytest.mark.parametrize(
    ("read", "written"),
    [
        (
            read_tei,
            "At 10<hi rend='superscript'>{}5</hi> M of SO<hi rend='sub'>4</hi><hi rend='sup'>2{}</hi>.",
        ),
        (read_markdown, "At 10<sup>{}5</sup> M of SO<sub>4</sub><sup>2{}</sup>."),
        (read_text, "At 10^{}5^ M of SO~4~<sup>2{}</sup>."),
    ],
)
def test_every_dash_of_an_exponent_or_a_charge_is_a_minus(
    read: Read, written: str, dash: str
) -> None:
    """Behind a dash that is not raised, "10–⁵" is ten and the mark of a note."""
    assert tei.texts(read(written.format(dash, dash))) == ["At 10⁻⁵ M of SO₄²⁻."]


def test_digits_of_a_title_keep_their_place() -> None:
    """A title is shown above every answer, and the title page is quoted."""
    title = "Growth of 10<hi rend='superscript'>5</hi> cells in CO<hi rend='subscript'>2</hi>"

    document = tei.parsed(tei.tei("<div><p>Text.</p></div>").replace("Iron in Winter", title))

    assert document.title == "Growth of 10⁵ cells in CO₂"


@pytest.mark.parametrize(
    ("read", "written", "shown"),
    [
        (read_tei, "At 250<ref type='bibr'>9</ref> degrees.", "At 250 ⁹ degrees."),
        (read_tei, "At 250<hi rend='sup'><ref type='bibr'>9</ref></hi> degrees.", "At 250 ⁹ degrees."),
        (read_tei, "Earlier <ref type='bibr' target='#b4'>54,</ref><ref type='bibr' target='#b5'>55</ref> .",
         "Earlier ⁵⁴,⁵⁵ ."),
        (read_tei, "It fell. <ref type='foot'>4</ref> Then it rose.", "It fell. ⁴ Then it rose."),
        (read_tei, "Some [<ref type='bibr'>9</ref>, <ref type='bibr'>10</ref>] fell.", "Some [9, 10] fell."),
        (read_tei, "At p &lt; . <ref type='bibr'>001,</ref> RGB 4, <ref type='bibr'>6</ref>.5",
         "At p < . 001, RGB 4, 6.5"),
        (read_tei, "See Fig. <ref type='figure'>2</ref> in Lund <ref type='bibr'>2020</ref>.",
         "See Fig. 2 in Lund 2020."),
        *((read_tei, f"At 250<ref {kind}>9</ref> degrees.", "At 250 ⁹ degrees.")
          for kind in ("type='noteAnchor'", "type='footnote'", "target='#fn1'")),
        (read_tei, "In Section <ref target='#s3'>3</ref> and Fig. S<ref type='figure'>2</ref>.",
         "In Section 3 and Fig. S2."),
        (read_markdown, "At 250<sup>[9](#b9)</sup> degrees.", "At 250 ⁹ degrees."),
        (read_markdown, "At 250[<sup>9</sup>](#b9) degrees.", "At 250 ⁹ degrees."),
        (read_markdown, "At 250<sup><a href='#b9'>9</a></sup> degrees.", "At 250 ⁹ degrees."),
        (read_markdown, "At 250<a href='#b9'><sup>9</sup></a> degrees, [10<sup>5</sup> m](#x).",
         "At 250 ⁹ degrees, 10⁵ m."),
        (read_markdown, "At 250 in all analyses<sup id='r'>**54**</sup> so far.", "At 250 in all analyses ⁵⁴ so far."),
        (read_markdown, "From ~2~ to x^a^ and 2^8 or 2^3^4, a [^9].", "From ~2~ to x^a^ and 2^8 or 2^3^4, a [9]."),
    ],
)  # fmt: skip
def test_numbers_of_notes_are_raised_apart_from_other_numbers(
    read: Read, written: str, shown: str
) -> None:
    """ "250<ref>9</ref> degrees" must be neither 2509 nor 250 to the 9th degrees."""
    assert tei.texts(read(written)) == [shown]
