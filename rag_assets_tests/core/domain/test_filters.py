"""The filter of a search as people write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.core.domain import (
    Condition,
    Filter,
    FilterField,
    NumberRange,
    SectionKind,
    SourceFormat,
)
from rag_assets.core.errors import InvalidFilter

PAPER, SOURCE, SECTION, PAGE = (
    FilterField.PAPER,
    FilterField.SOURCE,
    FilterField.SECTION,
    FilterField.PAGE,
)


def test_every_field_is_read() -> None:
    """The example of the documentation must mean what it says."""
    found = Filter.parse("paper:smith2020,jones2021 Section:Results page:3-7,9,12- -source:text")

    assert found.conditions == (
        Condition(PAPER, ("smith2020", "jones2021")),
        Condition(SECTION, (SectionKind.RESULTS,)),
        Condition(PAGE, (NumberRange(3, 7), NumberRange(9, 9), NumberRange(12, None))),
        Condition(SOURCE, (SourceFormat.TEXT,), is_excluded=True),
    )


@pytest.mark.parametrize(
    ("text", "papers"),
    [
        ('paper:"my paper"', ("my paper",)),
        ('paper:"my paper",smith2020', ("my paper", "smith2020")),
        ('paper:"a, b"', ("a, b",)),
        ('paper:"the ""best"" one"', ('the "best" one',)),
        ("paper:10.1177:0956", ("10.1177:0956",)),
        ("paper:a paper:b", ("a", "b")),
        ("-paper:a", None),
        ("page:3", None),
    ],
)
def test_papers_are_named_as_their_files_are(text: str, papers: tuple[str, ...] | None) -> None:
    """Ids are file names: with blanks, commas, colons and quotes."""
    assert Filter.parse(text).papers == papers


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "sction:results",
            'at sction:results: there is no field "sction", is section meant? Known are paper, source, section, page, '
            "author, year, venue, type, language.",
        ),
        (
            "page:3 section:result",
            'at section:result: there is no kind of section "result", is results meant? Known are title-page, '
            "abstract, introduction, background, methods, participants, data, results, discussion, limitations, "
            "conclusion, appendix, statements, funding, ethics, references, other.",
        ),
        (
            "source:word",
            'at source:word: there is no format "word". Known are tei, text, pdf, ade, docling, markdown.',
        ),
        ("page:vii", "at page:vii: pages are written 3, 3-7 or 3- (to the end)."),
        ("year:soon", "at year:soon: years are written 2019, 2019-2021 or 2019- (and later)."),
        (
            "page:0-3",
            "at page:0-3: pages count from 1, and the first of two is not behind the second.",
        ),
        (
            "page:7-3",
            "at page:7-3: pages count from 1, and the first of two is not behind the second.",
        ),
        (
            "ferritin",
            "at ferritin: a condition is a field, a colon and values without blanks, like "
            "paper:smith2020,jones2021 section:results page:3-7 -source:text.",
        ),
        (
            "paper: smith2020",
            "at paper:: a value is missing; write it behind the colon, like "
            "paper:smith2020,jones2021 section:results page:3-7 -source:text.",
        ),
        ("paper:a,,b", "at paper:a,,b: a value is missing beside a comma."),
        (
            'paper:"my paper',
            'at paper:"my: a quote is not closed; write paper:"an id with blanks".',
        ),
        (
            'paper:a"b c"',
            'at paper:a"b c": quotes go around a whole value, and are doubled inside.',
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_what_is_allowed(text: str, problem: str) -> None:
    """A filter that silently means something else answers from the wrong papers."""
    with pytest.raises(InvalidFilter) as raised:
        Filter.parse(text)

    assert str(raised.value) == f"The filter cannot be used {problem}"


NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1)
RANGES = st.builds(
    lambda first, n: NumberRange(first, None if n is None else first + n),
    st.integers(1, 999_999),
    st.none() | st.integers(0, 9),
)
VALUES = {
    **dict.fromkeys(FilterField, NAMES),
    SOURCE: st.sampled_from(SourceFormat),
    SECTION: st.sampled_from(SectionKind),
    PAGE: RANGES,
    FilterField.YEAR: RANGES,
}
CONDITIONS = st.sampled_from(FilterField).flatmap(
    lambda field: st.builds(
        lambda values, is_excluded: Condition(field, tuple(values), is_excluded),
        st.lists(VALUES[field], min_size=1, max_size=3, unique=True),
        st.booleans(),
    )
)


@given(st.lists(CONDITIONS, min_size=1, max_size=4))
def test_a_filter_is_written_as_it_is_read(conditions: list[Condition]) -> None:
    """Question files, keys of answers and traces hold the text: it must stand for the same
    passages."""
    made = Filter(tuple(conditions))

    assert Filter.parse(str(made)) == made


@given(st.text())
def test_any_text_is_a_filter_or_a_wrong_one(text: str) -> None:
    """Question files come from elsewhere: none may end a run with a traceback."""
    try:
        found = Filter.parse(text)
    except InvalidFilter:
        return

    assert found.conditions
