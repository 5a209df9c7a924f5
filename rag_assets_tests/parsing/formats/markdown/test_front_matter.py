"""What the front matter of a Markdown file states about the paper."""

import pytest

from rag_assets.parsing.formats.markdown.front_matter import stated_record


@pytest.mark.parametrize(
    "front_matter",
    [
        '---\ntitle: "Iron: a metal"\nauthors:\n  - Ada Lund\n  - "Moe, Bo"\ndate: 2021-05-03\n---\n',
        "---\ntitle: Iron: a metal # draft\nauthor:\n- name: Ada Lund\n  affiliation: X\n- name: Bo Moe\n"
        "year: 2021\n---\n",
        '+++\ntitle = "Iron: a metal"\nauthors = ["Ada Lund", "Bo Moe"]\ndate = 2021-01-01\n+++\n',
        "---\nauthor: Ada Lund and Bo Moe\ntitle: >\n  Iron:\n  a metal\ndate: May 2021\n---\n",
    ],
)
def test_authors_and_year_are_read_in_the_forms_that_people_write(front_matter: str) -> None:
    """Most of it is not valid YAML, and a paper would have no author."""
    record = stated_record(front_matter)

    assert record.title == "Iron: a metal"
    assert [(one.given, one.family) for one in record.authors] == [("Ada", "Lund"), ("Bo", "Moe")]
    assert record.year == 2021
