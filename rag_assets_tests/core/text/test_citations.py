"""How papers are cited, and which of them are one work."""

from dataclasses import replace

from rag_assets.core.domain import Person, Record
from rag_assets.core.text.works import cited_names, same_works

LUND, MOE, EK = Person("Lund", "Ada"), Person("Moe", "Bo"), Person("Ek", "Carl")


def test_a_paper_is_cited_by_authors_and_year() -> None:
    """A reader knows papers by their authors, and must tell two of one year apart."""
    records = {
        "a": Record(authors=(LUND,), year=2019),
        "b": Record(authors=(LUND, MOE), year=2019),
        "c": Record(authors=(LUND, MOE, EK), year=2019),
        "d": Record(authors=(LUND,), year=2019),
        "e": Record(authors=(EK,)),
        "f": Record(year=2019),
    }

    assert cited_names(records) == {
        "a": "Lund (2019a)",
        "b": "Lund & Moe (2019)",
        "c": "Lund et al. (2019)",
        "d": "Lund (2019b)",
        "e": "Ek (n.d.)",
        "f": "f",
    }


def test_papers_of_the_same_authors_and_year_are_told_apart_by_their_titles() -> None:
    """ "Lund (2019b)" tells a reader nothing without a list of references."""
    titles = {
        "a": "Iron in Winter: A Study of Sheep",
        "b": "Iron in summer",
        "c": f"Zinc{' and iron' * 9}",
    }
    records = {
        paper: Record(authors=(LUND,), year=2019, title=title) for paper, title in titles.items()
    }

    assert cited_names(records) == {
        "a": "Lund, “Iron in Winter” (2019)",
        "b": "Lund, “Iron in summer” (2019)",
        "c": f"Lund, “Zinc{' and iron' * 6} …” (2019)",
    }


def test_versions_of_one_work_are_found() -> None:
    """A preprint and its published version would count as two papers that agree."""
    title, abstract = (
        "Iron in mountain sheep",
        "Iron fell in all sheep by winter, more so in lambs.",
    )
    long = "For seven winters we followed iron in the blood of all the sheep of two valleys, and it fell in each of them."
    records = {
        "doi1": Record(title="One", doi="10.1/x"),
        "doi2": Record(title="Another", doi="10.1/x"),
        "published": Record(title=f"{title}.", authors=(LUND,), doi="10.1/y"),
        "preprint": Record(title=title.upper(), authors=(LUND, MOE), arxiv="2206.01062"),
        "other_authors": Record(title=title, authors=(EK,)),
        "cut_name": Record(title=title, authors=(replace(LUND, family=f"Berg {LUND.family}"),)),
        "new_title": Record(
            title="Iron falls in winter", authors=(EK,), abstract=f"{long} It fell."
        ),
        "old_title": Record(title="On iron", authors=(EK,), abstract=long),
        "other_text": Record(
            title="On zinc",
            authors=(EK,),
            abstract=f"{long[:61]} cows and goats of a dale, whose milk held zinc.",
        ),
        "text1": Record(title="Zinc in lowland cows", abstract=abstract),
        "text2": Record(title="Zinc in Lowland Cows", abstract=f"{abstract} Zinc stayed."),
        "text3": Record(title="Zinc in lowland cows", abstract="We survey farms in Dale."),
        "short1": Record(title="Editorial", authors=(LUND,)),
        "short2": Record(title="Editorial", authors=(LUND,)),
        "copy": Record(text_hash="a"),
        "copy (1)": Record(text_hash="a"),
        "withdrawn1": Record(title="Copper in valley goats", text_hash="b"),
        "withdrawn2": Record(title="Nickel in forest deer", text_hash="b"),
        "withdrawn3": Record(doi="10.1/v", text_hash="c"),
        "withdrawn4": Record(doi="10.1/w", text_hash="c"),
    }

    assert same_works(records) == {
        "copy (1)": "copy",
        "doi2": "doi1",
        "old_title": "new_title",
        "preprint": "cut_name",
        "published": "cut_name",
        "text2": "text1",
    }
