"""What a template may say, and what is told about one that cannot be used."""

from pathlib import Path

import pytest

from rag_assets.core.domain import Filter
from rag_assets.core.errors import InvalidTemplate, MissingInput
from rag_assets.reports.templates import (
    Template,
    columns_of,
    load_template,
    parse_template,
    template_files,
)

FULL = """# Iron in runners

What is known, for coaches.

## Findings

The main results.

- How much did ferritin fall?
- For how long?

## Studies

```toml
papers = ["iron"]
where = "section:results"
k = 9
length = 2
columns = { Sample = "How many runners took part?" }
```

### Limits

What limits the studies?
"""


def parsed(text: str) -> Template:
    return parse_template(text, Path("review.md"))


def problem(text: str) -> str:
    with pytest.raises(InvalidTemplate) as caught:
        parsed(text)
    return str(caught.value)


JSON = """{"title": "Iron in runners", "introduction": "What is known, for coaches.", "sections": [
  {"heading": "Findings", "guidance": "The main results.",
   "items": ["How much did ferritin fall?", "For how long?"]},
  {"heading": "Studies", "papers": ["iron"], "where": "section:results", "k": 9, "length": 2,
   "columns": {"Sample": "How many runners took part?"}},
  {"heading": "Limits", "guidance": "What limits the studies?", "level": 3}]}"""


def test_json_says_the_same_as_markdown(tmp_path: Path) -> None:
    """Who brings templates of another tool would write each of them anew."""
    (tmp_path / "review.json").write_text(JSON)

    assert [path.name for path in template_files(tmp_path)] == ["review.json"]
    assert load_template(tmp_path / "review.json") == parsed(FULL)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('{"sections": [{"heading": "A", "guide": "B"}]}', "sections.0.guide: Extra inputs"),
        ('{"sections": [{"guidance": "B"}]}', "sections.0.heading: Field required"),
        ('{"sections": [{"heading": "A"}]}', 'sections.0: the section "A" does not say'),
        ('{"sections": []}', "has 0 sections"),
        ("# Title", "Invalid JSON"),
    ],
)
def test_a_wrong_field_of_a_json_template_is_named(written: str, told: str) -> None:
    """A field that is read over makes a report of something else."""
    with pytest.raises(InvalidTemplate) as caught:
        parse_template(written, Path("review.json"))

    assert told in str(caught.value)
    assert "review.json" in str(caught.value)


def test_headings_become_sections_with_guidance_questions_and_settings() -> None:
    """A setting that is read over, or given to the wrong section, makes a report about something
    else."""
    template = parsed(FULL)

    findings, studies, limits = template.sections
    assert (template.name, template.title, template.introduction) == (
        "review",
        "Iron in runners",
        "What is known, for coaches.",
    )
    assert (findings.key, findings.guidance) == ("findings", "The main results.")
    assert findings.items == ("How much did ferritin fall?", "For how long?")
    assert (studies.settings.papers, studies.settings.k, studies.settings.length) == (
        ("iron",),
        9,
        2,
    )
    assert studies.settings.where == Filter.parse("section:results")
    assert studies.settings.columns == {"Sample": "How many runners took part?"}
    assert (limits.level, limits.guidance, limits.settings.papers) == (
        3,
        "What limits the studies?",
        None,
    )


def test_the_outline_holds_headings_and_no_guidance() -> None:
    """With the guidance in it, a word changed in one section would have all others written
    again."""
    outline = parsed(FULL).outline

    assert "Findings" in outline
    assert "  - Limits" in outline
    assert "ferritin" not in outline


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Some text\n", "line 1: a template begins with its title"),
        ("## Section\nWhat?\n", "line 1: a template begins with its title"),
        ("# Title\n", "0 sections"),
        ("# A\n## B\nWhat?\n# C\n", "line 4: there is a second title"),
        ("# A\n- What?\n## B\nWhat?\n", "line 1: the list stands below the title"),
        ("# A\n## B\n## C\nWhat?\n", 'line 2: the section "B" does not say what it is about'),
        ("# A\n## B\n```toml\nkk = 3\n```\nWhat?\n", "line 3: kk: Extra inputs are not permitted"),
        ("# A\n## B\n```toml\nk = \n```\nWhat?\n", "line 3: the settings are no TOML"),
        ("# A\n## B\n```python\nk = 3\n```\nWhat?\n", "begins with ```toml"),
        (
            '# A\n## B\n```toml\nwhere = "colour:red"\n```\nWhat?\n',
            "line 3: where: The filter cannot be used",
        ),
        ("# A\n## B\n" + "what " * 900, "line 2: heading and guidance exceed 4000 characters"),
        ("# A\n" + "## B\nWhat?\n" * 201, "201 sections"),
    ],
)
def test_a_template_that_cannot_be_used_is_told_with_file_and_line(text: str, told: str) -> None:
    """Without the line, an author of a long template searches for the slip."""
    assert problem(text).startswith("review.md")
    assert told in problem(text)


def test_a_missing_or_garbled_file_is_told(tmp_path: Path) -> None:
    """A traceback would be all that its author sees."""
    (tmp_path / "latin.md").write_bytes("# Grüße".encode("latin-1"))

    with pytest.raises(InvalidTemplate, match="not UTF-8"):
        load_template(tmp_path / "latin.md")
    with pytest.raises(MissingInput, match="cannot be read"):
        load_template(tmp_path / "none.md")


def test_templates_are_the_markdown_files_of_a_folder(tmp_path: Path) -> None:
    """A draft of an editor, or a folder, would stop every report."""
    for name in ("b.md", "a.md", ".hidden.md", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.md").mkdir()

    assert [path.name for path in template_files(tmp_path)] == ["a.md", "b.md"]
    assert template_files(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("asked", "columns"),
    [
        ("Sample=How many took part?", {"Sample": "How many took part?"}),
        ("Share of women = Which share was it?", {"Share of women": "Which share was it?"}),
        ("Is k=60 used?", {"Is k=60 used?": "Is k=60 used?"}),
        ("Is p = .05 the level?", {"Is p = .05 the level?": "Is p = .05 the level?"}),
        ("k = What is k? Is k=60?", {"k": "What is k? Is k=60?"}),
        ("How many took part?", {"How many took part?": "How many took part?"}),
    ],
)
def test_a_column_is_a_question_with_or_without_a_name(asked: str, columns: dict[str, str]) -> None:
    """A question cut at its = would ask for something else, in silence."""
    assert columns_of([asked]) == columns


def test_a_section_of_an_earlier_version_is_left_out_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The template of an earlier demo could not be read at all, and its report stayed as it was."""
    path = tmp_path / "overview.md"
    path.write_text(f"{FULL}\n## Sums\n\n```toml\nsummaries = true\n```\n")

    template = load_template(path)

    assert "Sums" not in [section.heading for section in template.sections]
    assert "Limits" in [section.heading for section in template.sections]
    assert f"{path}, line " in caplog.text
    assert "left out; no model sums papers up any more." in caplog.text
