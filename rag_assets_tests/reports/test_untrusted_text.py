"""Papers, templates and models that put something into a report that acts, or that no file can
hold."""

from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html
from markdown_it import MarkdownIt

from rag_assets.core.domain import Claim
from rag_assets.core.errors import InvalidTemplate
from rag_assets.reports.renderings import as_markdown, as_web_page
from rag_assets.reports.report import Report, assembled
from rag_assets.reports.templates import MAX_ITEMS, MAX_TEMPLATE_CHARS, parse_template, plan_report
from rag_assets.reports.update import ReportFiles
from rag_assets_tests.reports.test_renderings import answer, citation

NASTY = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[here](javascript:alert(1))",
    "![picture](http://x.example/a.png)",
    "# A heading",
    "| a | b |\n| --- | --- |",
    "=HYPERLINK(1)",
    "1. first\n- second",
    "```html\n<b>bold</b>\n```",
    "a \\| b `c | d` $e^{f}$ <!-- g --> &lt;h&gt;",
    "</td></tr></table><h1>i</h1>",
    "\x1b[31mred \x00\x0b\x0c\ufffe\uffff \ud800 \u202edesrever",
)
COLUMN, HEADING = "<i>Col</i> | umn", "<u>Findings</u> [x](http://x.example)"


@pytest.fixture(params=NASTY)
def nasty(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def report(nasty: str) -> Report:
    """Nasty text wherever a paper, a template or a model can put it."""
    text = f"""# Iron <b>title</b>

Introduction with <script>alert(2)</script>.

## {HEADING}

Guidance <b>bold</b>.

- What is <i>lost</i>?
- What is kept?

## Studies

```toml
papers = ["iron"]
columns = {{ "{COLUMN}" = "What is it made of?" }}
```
"""
    template = parse_template(text, Path("iron.md"))
    plan = plan_report(template, lambda _question, _k: [])
    claim = Claim(f"It says {nasty}", (citation("iron", 0, f"It says {nasty}"),))
    answers = [
        replace(answer(one.question.id, one.question.question, claim), missing_names=(nasty,))
        for one in plan.questions
    ]
    answers[1] = answer(plan.questions[1].question.id, "What is kept?", unanswered=(nasty,))
    return assembled(plan, answers, {"iron": f"Iron {nasty}"}, {})


@pytest.mark.parametrize("shown", ["markdown", "html"])
def test_nothing_in_a_report_acts_or_changes_its_structure(report: Report, shown: str) -> None:
    """A paper could run a script in the browser of its reader, or write a table that says what it
    likes."""
    page = (
        as_web_page(report)
        if shown == "html"
        else MarkdownIt().enable("table").render(as_markdown(report))
    )
    tree = html.fromstring(page.encode().decode())

    assert not tree.xpath("//script | //img | //i | //u | //pre | //code | //@onerror")
    assert all(link.startswith("#evidence-") for link in tree.xpath("//a/@href"))
    heads = [one.text_content() for one in tree.xpath("//h1 | //h2")]
    assert heads == ["Iron <b>title</b>", HEADING, "Studies", "Evidence", "Papers used"]
    (table,) = tree.xpath("//table")
    assert [[len(row.xpath("./th | ./td"))] for row in table.xpath(".//tr")] == [[2], [2]]
    assert table.xpath(".//th")[1].text_content() == COLUMN


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# A\n## B\n" + "- What?\n" * (MAX_ITEMS + 1), f"asks {MAX_ITEMS + 1} questions in lists"),
        ("# A\n## B\nWhat?\n" + "x" * MAX_TEMPLATE_CHARS, "a template has at most"),
        (
            "# A\n## B\n```toml\n[columns]\n"
            + "".join(f'c{n} = "q{n}?"\n' for n in range(21))
            + "```\n",
            "columns: Dictionary should have at most 20 items",
        ),
        (
            "# A\n## B\n```toml\npapers = [" + '"p", ' * 1001 + "]\n```\nWhat?\n",
            "Tuple should have at most 1000",
        ),
    ],
)
def test_a_template_that_asks_too_much_is_refused_before_anything_is_asked(
    text: str, told: str
) -> None:
    """Ten thousand headings would be ten thousand requests."""
    with pytest.raises(InvalidTemplate, match=r"iron\.md") as caught:
        parse_template(text, Path("iron.md"))

    assert told in str(caught.value)


@pytest.mark.parametrize(
    "name", ["..md", "...md", "a.jsonl.md", "a.meta.json.md", "a b.md", "a\\..\\b.md", "..\\b.md"]
)
def test_a_report_stays_in_its_folder_whatever_its_template_is_called(
    name: str, tmp_path: Path
) -> None:
    """A template could overwrite the answers, or a paper."""
    files = ReportFiles(tmp_path / "templates" / name, tmp_path / "reports")

    assert {file.resolve().parent for file in files.all()} == {(tmp_path / "reports").resolve()}
    assert len(set(files.all())) == 3
