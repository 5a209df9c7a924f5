"""The same report as Markdown, HTML and spreadsheet: what is shown, and that nothing of a paper
acts in it."""

import csv
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from markdown_it import MarkdownIt
from openpyxl import load_workbook

from rag_assets.core.domain import Citation, Claim, LeadSentence, QAResult
from rag_assets.reports.renderings import as_csv, as_markdown, as_web_page, as_xlsx
from rag_assets.reports.report import Report, assembled
from rag_assets.reports.templates import parse_template, plan_report
from rag_assets_testing.citations import answer_of, cited

TEMPLATE = """# Iron

## Findings

- How much did ferritin fall?
- Who paid for it?

## Studies

```toml
papers = ["iron", "runners"]
columns = { Sample = "How many took part?" }
```
"""
EVIL = "Iron <script>alert(1)</script> [link](javascript:x) | fell ![](http://x.example/a.png)"


def citation(
    paper: str, start: int, quote: str, page: int | None = 3, cited_as: str = ""
) -> Citation:
    return cited(quote, paper, page, start=start, cited_as=cited_as)


def answer(question_id: str, question: str, *claims: Claim, **changes: Any) -> QAResult:
    return answer_of(
        *claims,
        question_id=question_id,
        question=question,
        single_source=bool(claims),
        model="extractive-v1:ab",
        contexts=("iron:1",),
        **changes,
    )


@pytest.fixture
def report() -> Report:
    return reported()


def reported(cited_as: str = "") -> Report:
    plan = plan_report(parse_template(TEMPLATE, Path("iron.md")), lambda _section: [])
    fell = Claim(EVIL, (citation("iron", 0, EVIL, cited_as=cited_as),))
    sample = Claim(
        "Forty took part.", (citation("iron", 200, "Forty took part.", cited_as=cited_as),)
    )
    answers = [
        answer("findings/1", "How much did ferritin fall?", fell, replace(fell, text="Again.")),
        answer("findings/2", "Who paid for it?"),
        answer(
            "studies/iron/Sample",
            "How many took part?",
            sample,
            replace(sample, text="Not for a cell."),
        ),
    ]
    return assembled(plan, answers, {"iron": "Iron & <b>steel</b>"}, {"iron:1": "iron"})


def test_what_was_refused_or_not_asked_is_a_gap_with_what_was_searched(report: Report) -> None:
    """A reader would take a silent section for a question nobody had."""
    findings, studies = report.sections

    assert [(gap.missing, gap.n_chunks, gap.papers) for gap in findings.gaps] == [
        ("Who paid for it?", 1, ("iron",))
    ]
    assert [gap.about for gap in studies.gaps] == [("runners",)]
    assert [(gap.missing, gap.where) for gap in studies.gaps] == [("Sample", "")]


def test_cells_carry_number_and_page_and_empty_cells_say_so(report: Report) -> None:
    """A figure in a table without its page cannot be looked up."""
    rows = html.fromstring(MarkdownIt().enable("table").render(as_markdown(report))).xpath(
        "//tbody/tr"
    )

    assert [cell.text_content() for cell in rows[0]] == [
        "Iron & <b>steel</b>",
        "Forty took part. [2, p. 3]",
    ]
    assert [cell.text_content() for cell in rows[1]] == ["runners", "[INSUFFICIENT DATA]"]


def test_a_spreadsheet_has_beside_each_answer_its_page_and_quote_or_the_reason_why_there_is_none(
    report: Report,
) -> None:
    """A cell that begins like a formula would be computed."""
    titled = replace(report, titles={"iron": "=cmd();=cmd()", "runners": "Runners"})
    header, iron, runners = csv.reader(as_csv(titled).decode("utf-8-sig").splitlines())
    (sheet,) = load_workbook(BytesIO(as_xlsx(titled))).worksheets

    assert header == ["paper", "title", "Sample", "Sample: page", "Sample: quote, or why none"]
    assert iron == ["iron", "'=cmd();'=cmd()", "Forty took part.", "p. 3", "Forty took part."]
    assert runners == ["runners", "Runners", "", "", 'Searched in vain for "How many took part?"']
    assert [[cell or "" for cell in row] for row in sheet.iter_rows(values_only=True)] == [
        header,
        iron,
        runners,
    ]
    assert sheet.title == "1 Studies"


def test_every_mark_of_the_web_page_leads_to_its_quote(report: Report) -> None:
    """A click would lead nowhere."""
    tree = html.fromstring(as_web_page(report))

    targets = tree.xpath("//a/@href")
    assert targets == ["#evidence-1", "#evidence-1", "#evidence-2"]
    assert all(tree.get_element_by_id(target[1:]) is not None for target in targets)


def test_a_section_that_covers_one_of_the_papers_it_was_given_names_the_others() -> None:
    """One study would be read as all three."""
    text = '# Iron\n## Falls\n```toml\npapers = ["iron", "runners", "cyclists"]\n```\nBy how much did ferritin fall?\n'
    plan = plan_report(parse_template(text, Path("iron.md")), lambda _question, _k: [])
    fell = answer("falls/1", "q", Claim("Ferritin fell.", (citation("iron", 0, "Ferritin fell."),)))
    read = replace(fell, contexts=("iron:1", "runners:1", "runners:2"))
    paper_of = {"iron:1": "iron", "runners:1": "runners", "runners:2": "runners"}

    (gap,) = assembled(plan, [read], {}, paper_of).sections[0].gaps

    assert (gap.missing, gap.about, gap.n_chunks) == (
        "By how much did ferritin fall?",
        ("runners", "cyclists"),
        2,
    )


def test_what_a_column_lacks_of_several_papers_is_one_gap() -> None:
    """Thirty lines that differ in a name hide the two that matter."""
    plan = plan_report(parse_template(TEMPLATE, Path("iron.md")), lambda _question, _k: [])

    (gap,) = assembled(plan, [], {}, {}).sections[1].gaps

    assert (gap.missing, gap.about) == ("Sample", ("iron", "runners"))


def test_a_report_in_a_style_cites_places_and_lists_references() -> None:
    """Numbers of quotes behind claims would be read as those of the references."""
    report = replace(reported("[1]"), references=("[1] Lund. Iron.",))

    text = as_markdown(report).replace("\\", "")

    assert "Again. [1, p. 3]" in text
    assert "## Papers used\n\n- [1] Lund. Iron.\n" in text
    assert "Forty took part. [1, p. 3]" in text


def test_the_paragraph_that_opens_an_answer_stands_above_its_claims_with_their_quotes() -> None:
    """A reader of a report would get a list of sentences; a paragraph without quotes, or one about
    claims that are not shown, proves nothing."""
    plan = plan_report(parse_template(TEMPLATE, Path("iron.md")), lambda _section: [])
    fell = Claim("Ferritin fell.", (citation("iron", 0, "Ferritin fell."),))
    rose = Claim("Iron rose.", (citation("iron", 90, "Iron rose."),))
    led = replace(
        answer("findings/1", "How much did ferritin fall?", fell, rose),
        lead=(LeadSentence("One fell, one rose.", (1, 2)), LeadSentence("More.", (3,))),
    )

    written = as_markdown(assembled(plan, [led], {}, {"iron:1": "iron"}))

    assert r"**How much did ferritin fall?** One fell, one rose. \[1\]\[2\]" in written
    assert "\n\nFerritin fell. " in written
    assert "More." not in written
