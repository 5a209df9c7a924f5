"""From a TEI file to blocks: text, kinds, sections and zones."""

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from rag_assets.core.domain import BlockKind, PageSource, SourceFormat, Zone
from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.formats.tei.document import parse_tei
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.tei import SURFACES, WORDS, parsed, tei, texts
from rag_assets_tests.demo_papers import paragraphs, tei_files


def sections(heads: str) -> list[tuple[str, ...]]:
    body = "".join(f"<div>{head}<p>Words.</p></div>" for head in heads.split("\n"))
    return [
        block.section_path for block in parsed(tei(body)).blocks if block.kind is BlockKind.HEADING
    ]


def test_a_paper_becomes_titled_zoned_blocks() -> None:
    """Zones decide what is indexed; an abstract in the wrong one is never found."""
    document = parsed(
        tei(
            "<div><head n='1'>Methods</head><p>We sampled.</p></div>",
            abstract="<div><p>Iron falls.</p></div>",
            back="<div type='acknowledgement'><div><p>We thank all.</p></div></div>"
            "<div type='annex'><div><head>Extra data</head><p>More rows.</p></div>"
            "<div><head>Funding</head><p>Paid by nobody.</p></div></div>"
            "<div type='references'><listBibl><biblStruct><title>Old Work</title></biblStruct></listBibl></div>",
        ),
    )

    assert (document.title, document.source, document.paper_id) == (
        "Iron in Winter",
        SourceFormat.TEI,
        "paper",
    )
    assert [(block.zone, block.section_path, block.text) for block in document.blocks] == [
        (Zone.FRONT, ("Abstract",), "Iron falls."),
        (Zone.BODY, ("1 Methods",), "1 Methods"),
        (Zone.BODY, ("1 Methods",), "We sampled."),
        (Zone.STATEMENTS, ("Statements",), "We thank all."),
        (Zone.ANNEX, ("Extra data",), "Extra data"),
        (Zone.ANNEX, ("Extra data",), "More rows."),
        (Zone.STATEMENTS, ("Funding",), "Funding"),
        (Zone.STATEMENTS, ("Funding",), "Paid by nobody."),
        (Zone.BACK, ("References",), "Old Work"),
    ]
    assert document.page_source is PageSource.NONE
    assert document.n_pages is None


def test_the_reference_list_is_kept_an_entry_a_line() -> None:
    """GROBID takes entries apart, and keeps their printed words only where it is asked to."""
    back = (
        "<listBibl><biblStruct coords='2,50,700,200,9'><analytic><title>Old Work</title>"
        "<author><persName><forename>Ann</forename><surname>Lund</surname></persName></author>"
        "<idno type='DOI'>10.5555/a</idno></analytic>"
        "<monogr><title>J Soil</title><imprint><date when='2019-05'/><biblScope unit='volume'>4</biblScope>"
        "<biblScope unit='page' from='1' to='9'/></imprint></monogr></biblStruct>"
        "<biblStruct><note type='raw_reference'>Moe, B. Basalt.</note>"
        "<analytic><title>B</title></analytic></biblStruct>"
        "<bibl>Roe, D. Snow.</bibl></listBibl>"
    )

    document = parsed(tei("<div><p>c</p></div>", back=back, facsimile=SURFACES))

    references = document.blocks[-1]
    assert references.text.split("\n") == [
        "Lund A (2019). Old Work. J Soil. 4, 1–9. doi:10.5555/a",
        "Moe, B. Basalt.",
        "Roe, D. Snow.",
    ]
    assert (references.zone, references.is_indexable, references.page_start) == (
        Zone.BACK,
        False,
        2,
    )


def test_a_list_of_grants_is_no_text_of_the_paper() -> None:
    """GROBID repeats the grants of a statement in a list of their own: chunks of three tokens that
    answer nothing."""
    back = (
        "<div type='funding'><div><head>Funding</head><p>Paid by grant FOR 2293.</p></div></div>"
        "<listOrg type='funding'><org><idno type='grant-number'>FOR 2293</idno></org></listOrg>"
    )

    assert texts(parsed(tei("<div><p>c</p></div>", back=back))) == [
        "c",
        "Funding",
        "Paid by grant FOR 2293.",
    ]


def test_an_annex_goes_on_behind_its_inner_section() -> None:
    """Annexes may be nested where the body is flat."""
    back = (
        "<div type='appendix'><head>Annex</head><div><head>Rows</head><p>a</p></div><p>b</p></div>"
    )

    document = parsed(tei("<div><head>Methods</head><p>c</p></div>", back=back))

    assert {
        block.text: (block.zone, block.section_path)
        for block in document.blocks
        if len(block.text) == 1
    } == {
        "c": (Zone.BODY, ("Methods",)),
        "a": (Zone.ANNEX, ("Annex", "Rows")),
        "b": (Zone.ANNEX, ("Annex",)),
    }


def test_a_reference_list_taken_for_body_is_back_matter() -> None:
    """Indexed references answer every question with a title."""
    document = parsed(
        tei(
            "<div><head n='7'>References</head><p>Smith 2020.</p></div><div><p>And so on.</p></div>"
        ),
    )

    assert [block.zone for block in document.blocks] == [Zone.BACK, Zone.BACK, Zone.BODY]


@pytest.mark.parametrize(
    ("heads", "paths"),
    [
        (
            "<head n='3'>Model</head>\n<head n='3.1.'>Parts</head>\n<head n='3.1.2'>Cells</head>\n"
            "<head n='4'>End</head>",
            [
                ("3 Model",),
                ("3 Model", "3.1. Parts"),
                ("3 Model", "3.1. Parts", "3.1.2 Cells"),
                ("4 End",),
            ],
        ),
        (
            "<head n='II.'>Methods</head>\n<head n='A.'>Mice</head>\n<head n='H.'>Men</head>\n"
            "<head n='I.'>Fish</head>\n<head n='III.'>Results</head>",
            [
                ("II. Methods",),
                ("II. Methods", "A. Mice"),
                ("II. Methods", "H. Men"),
                ("II. Methods", "I. Fish"),
                ("III. Results",),
            ],
        ),
        (
            "<head n='9'>End</head>\n<head n='A'>Tables</head>\n<head n='A.1'>Long ones</head>\n"
            "<head n='Appendix B'>Proofs</head>\n<head n='B.1'>Lemma</head>",
            [
                ("9 End",),
                ("A Tables",),
                ("A Tables", "A.1 Long ones"),
                ("Appendix B Proofs",),
                ("Appendix B Proofs", "B.1 Lemma"),
            ],
        ),
        (
            "<head>Introduction</head>\n<head n='2.1'>Orphan</head>\n<head>2.2 In the text</head>\n<head>Last</head>",
            [("Introduction",), ("2.1 Orphan",), ("2.2 In the text",), ("Last",)],
        ),
    ],
)
def test_numbers_of_headings_nest_sections(heads: str, paths: list[tuple[str, ...]]) -> None:
    """GROBID writes sections side by side; only the numbers tell which belongs to which."""
    assert sections(heads) == paths


def test_nested_divisions_nest_sections() -> None:
    """TEI written by people has its hierarchy in the tree, and text may go on after an inner
    section."""
    document = parsed(
        tei(
            "<div><head>Part</head><p>a</p><div2><head>Chapter</head><p>b</p></div2><p>c</p></div><div><p>d</p></div>"
            "<div><div><p>e</p></div></div>"
        ),
    )

    assert {
        block.text: block.section_path for block in document.blocks if len(block.text) == 1
    } == {
        "a": ("Part",),
        "b": ("Part", "Chapter"),
        "c": ("Part",),
        "d": (),
        "e": (),
    }


def test_every_kind_of_text_reaches_a_block_once() -> None:
    """What is lost cannot be found, what is doubled counts double."""
    body = """loose1 <div><head>head1</head><p>p1 <hi>hi1</hi> <ref target="#b1">ref1</ref> tail1
      <list><head>lhead1</head><label>lab1</label><item>item1 <list><item>sub1</item></list> rest1</item></list> tail2
      <note place="foot">note1 <p>note2</p></note> tail3 <formula>form1</formula> tail4</p>
      <quote><p>quote1</p><lg><l>line1</l><l>line2</l></lg></quote> loose2
      <sp><speaker>speaker1</speaker><p>speech1</p></sp>
      <floatingText><body><div><head>inner1</head><p>letter1</p></div></body></floatingText>
      <formula>form2 <label>(2)</label></formula><eg>code1 = 1</eg><unknown>odd1 <strange>odd2</strange></unknown>
      <choice><sic>wrnog1</sic><corr>right1</corr></choice> last1
      <figure><head>Figure 1.</head><label>1</label><figDesc>Figure 1. A cat1.</figDesc><graphic url="x"/></figure>
      <figure type="table"><head>Table1</head><figDesc>Rows1.</figDesc><table><row><cell>cell1</cell><cell>c<note>cn1
      </note></cell></row></table><note>tnote1</note></figure></div>"""

    document = parsed(tei(body, front="<titlePage><docTitle>Front1</docTitle></titlePage>"))

    words = Counter(
        word.strip(".()")
        for block in document.blocks
        for word in f"{block.text} {block.title}".split()
    )
    wanted = (
        "loose1 head1 p1 hi1 ref1 tail1 lhead1 lab1 item1 sub1 rest1 tail2 note1 note2 tail3 form1 tail4 quote1 "
        "line1 line2 loose2 speaker1 speech1 inner1 letter1 form2 2 code1 odd1 odd2 right1 last1 cat1 Table1 Rows1 "
        "cell1 cn1 tnote1 Front1"
    )
    assert {word: words[word] for word in wanted.split()} == dict.fromkeys(wanted.split(), 1)
    assert words["wrnog1"] == 0
    assert words["Figure"] == 1, "GROBID repeats the label in the caption"


def test_blocks_inside_a_paragraph_cut_it_and_notes_follow_it() -> None:
    """A footnote in the middle of a sentence would tear the sentence in two."""
    document = parsed(
        tei(
            "<p>It fell<note place='foot'>By half.</note> at once. <list><item>one</item><item>two</item></list>"
            " After that<note place='inline'>(in May)</note> it rose.</p>"
        ),
    )

    assert [(block.kind, block.text) for block in document.blocks] == [
        (BlockKind.PARAGRAPH, "It fell at once."),
        (BlockKind.FOOTNOTE, "By half."),
        (BlockKind.LIST, "one\ntwo"),
        (BlockKind.PARAGRAPH, "After that (in May) it rose."),
    ]


def test_entities_and_comments_leave_readable_text() -> None:
    """Older TEI names characters by entities; dropping them glues or loses words."""
    content = tei("<p>a&nbsp;b<!-- not this --> c &amp; d &own; <?pi nor this?>e</p>")
    doctype = '<!DOCTYPE TEI [<!ENTITY nbsp "&#160;"><!ENTITY own "own words">]>\n<TEI'

    document = parsed(content.replace("<TEI", doctype, 1))

    assert texts(document) == ["a b c & d &own; e"]


def test_a_table_keeps_rows_cells_and_spans() -> None:
    """Chunks are cut between the lines of a table; a cell in the wrong column is a wrong number."""
    body = """<figure type="table"><head>Table 2</head><label>2</label><figDesc>Iron by group.</figDesc><table>
      <row role="label"><cell rows="2">Group</cell><cell cols="2">Iron</cell></row>
      <row><cell>before</cell><cell>after</cell></row>
      <row><cell>A</cell><cell></cell><cell cols="x">7</cell></row><row><cell/></row>
      <row><cell>Ragged</cell></row></table><note>a: n = 3</note></figure>"""

    table, note = parsed(tei(body)).blocks

    assert table.title == "Table 2 Iron by group."
    assert table.text == "Group | Iron\nbefore | after\nA |  | 7\nRagged"
    assert [
        (cell.text, cell.row, cell.col, cell.row_span, cell.col_span) for cell in table.cells
    ] == [
        ("Group", 0, 0, 2, 1),
        ("Iron", 0, 1, 1, 2),
        ("before", 1, 1, 1, 1),
        ("after", 1, 2, 1, 1),
        ("A", 2, 0, 1, 1),
        ("", 2, 1, 1, 1),
        ("7", 2, 2, 1, 1),
        ("Ragged", 3, 0, 1, 1),
    ]
    assert [cell.text for cell in table.cells if cell.is_header] == [
        "Group",
        "Iron",
        "before",
        "after",
    ]
    assert (note.kind, note.text) == (BlockKind.FOOTNOTE, "a: n = 3")


def test_floats_behind_the_text_move_to_their_first_mention() -> None:
    """A table that trails the conclusion is cited under "Conclusion"."""
    body = """<div><head n="1">Results</head><p>See <ref type="table" target="#tab_0">1</ref>.</p></div>
      <div><head n="2">Conclusion</head><p>It fell<ref type="foot" target="#foot_0">1</ref>; again
      <ref type="table" target="#tab_0">1</ref>.</p></div>
      <figure xml:id="fig_0"><head>Figure 9</head><figDesc>Never mentioned.</figDesc></figure>
      <figure type="table" xml:id="tab_0"><head>Table 1</head><table><row><cell>a</cell></row></table></figure>
      <note place="foot" xml:id="foot_0">By half.</note>"""

    document = parsed(tei(body))

    assert [(block.kind.value, block.section_path) for block in document.blocks] == [
        ("heading", ("1 Results",)),
        ("paragraph", ("1 Results",)),
        ("table", ("1 Results",)),
        ("heading", ("2 Conclusion",)),
        ("paragraph", ("2 Conclusion",)),
        ("footnote", ("2 Conclusion",)),
        ("figure", ()),
    ]


def test_a_corpus_file_gives_all_its_texts() -> None:
    """`teiCorpus` holds several texts; only the first would be a silent loss."""
    one = "<TEI><teiHeader/><text><body><p>{}</p></body></text></TEI>"

    document = parsed(f"<teiCorpus>{one.format('first')}{one.format('second')}</teiCorpus>")

    assert texts(document) == ["first", "second"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (tei("<div/>"), "TEI without text"),
        ("<article><body><p>JATS</p></body></article>", "root element <article>, not TEI"),
        ("<TEI><text><body><div><he", "recovery mode"),
        ("no markup", "no readable XML"),
    ],
)
def test_what_gives_no_text_is_refused(content: str, reason: str) -> None:
    """An empty document in the index looks like a paper that says nothing."""
    with pytest.raises(UnreadableDocument, match=reason):
        parsed(content)


def test_the_deepest_nesting_allowed_can_be_read() -> None:
    """The walk is recursive: whatever the depth limit lets through must not exhaust the stack."""
    for tag in ("div", "hi", "quote"):
        content = tei(f"<{tag}>" * 190 + "<p>deep</p>" + f"</{tag}>" * 190)
        assert texts(parsed(content)) == ["deep"]


def test_the_count_of_source_text_matches_what_reached_the_blocks() -> None:
    """The check on lost text divides by it: a count made from the blocks themselves would never see
    a loss."""
    body = f"<div><head>Methods</head><p>{WORDS * 5}</p><p>{WORDS * 3}</p></div>"
    back = "<div type='acknowledgement'><p>Not counted.</p></div><listBibl><bibl>Nor this.</bibl></listBibl>"

    document = parsed(tei(body, back=back, abstract=f"<p>{WORDS}</p>"))

    reached = sum(block.n_chars for block in document.blocks if block.zone is not Zone.BACK)
    assert document.n_source_chars == pytest.approx(reached, rel=0.01)


@pytest.mark.parametrize("path", tei_files(), ids=lambda path: path.name)
def test_whole_papers_lose_no_text(path: Path) -> None:
    """Files with coordinates, with page breaks, with neither; what the small files above do not
    think of."""
    document = read_content(parse_tei, path.name, path.read_bytes())

    reached = sum(block.n_chars for block in document.blocks if block.zone is not Zone.BACK)
    assert 0.99 <= reached / document.n_source_chars <= 1.1
    for block in document.blocks:
        assert "".join(block.text[span.start : span.end] for span in block.spans) == block.text
    found = letters(" ".join(f"{block.title} {block.text}" for block in document.blocks))
    assert [part for part in paragraphs(path) if letters(part) not in found] == []


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text)))


def test_a_text_is_read_as_its_last_hand_left_it() -> None:
    """A deleted 9 before an added 12 reads 912, a number that nobody wrote."""
    body = (
        "<div><p>We saw <subst><del>9</del><add>12</add></subst> boats<surplus> boats</surplus>, "
        "<supplied>and</supplied> <hi rend='strikethrough'>two</hi> three <restore><del>old</del></restore> "
        "<choice><sic>sheeps</sic><corr>ships</corr></choice> by "
        "<app><lem>night</lem><rdg wit='#b'>light</rdg></app>.</p><del><p>A paragraph that went.</p></del></div>"
    )

    document = parsed(tei(body))

    assert texts(document) == ["We saw 12 boats, and three old ships by night."]
    assert document.n_source_chars == document.blocks[0].n_chars
