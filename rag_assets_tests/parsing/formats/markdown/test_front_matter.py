"""What the front matter of a Markdown file states about the paper."""

import pytest

from rag_assets.parsing.formats.markdown.document import stated_record


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


PERSONS = [("Ada", "Lund"), ("Bo", "Moe")]


@pytest.mark.parametrize(
    "authors",
    [
        "author: Ada Lund, Bo Moe",
        "author: Lund, Ada; Moe, Bo",
        "author: Lund, Ada, Moe, Bo",
        "author: Ada Lund^1,2^ & Bo Moe^[Town school, b@x.org]",
        "author: |\n  Ada Lund\n  Bo Moe",
        "authors:\n\t- Ada Lund <a@x.org>\n\t- 'Moe, Bo'",
        "author:\n  - name: Ada Lund\n    affiliation: [Town school]\n  - name: {given: Bo, family: Moe}",
        "author:\n  - literal: Ada Lund\n  - given-names: Bo\n    surname: Moe",
        "author:\n  - Ada Lund:\n      institute: town\n  - Bo Moe:\n      institute: town",
        "author:\n  name: [Ada Lund, Bo Moe]\n  affiliation: Town school",
    ],
)
def test_authors_are_persons_in_every_shape_that_tools_read(authors: str) -> None:
    """ "name:", an address or a place of work is shown as who wrote the paper."""
    record = stated_record(f"---\ntitle: Iron\n{authors}\n---\n")

    assert [(one.given, one.family) for one in record.authors] == PERSONS


def test_tables_of_toml_are_persons() -> None:
    """Hugo's files have TOML."""
    record = stated_record(
        '+++\ntitle = "Iron"\n[[authors]]\nname = "Ada Lund"\n[[authors]]\nname = "Bo Moe"\n+++\n'
    )

    assert [(one.given, one.family) for one in record.authors] == PERSONS


@pytest.mark.parametrize(
    "hostile",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nauthor: [*b, *b]",
        "author: " + "[" * 40_000,
        "author: !!python/object/apply:os.abort []",
        "author: " + "x" * 200_000,
    ],
)
def test_front_matter_that_would_grow_or_run_states_nothing(hostile: str) -> None:
    """A file of a few kilobytes must not fill the memory, or run code."""
    assert stated_record(f"---\n{hostile}\n---\n").authors == ()
