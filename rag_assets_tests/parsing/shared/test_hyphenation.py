"""Words that a line end cut in two."""

import pytest

from rag_assets.parsing.shared.hyphenation import Vocabulary, ends_in_broken_word, glued, mended

VOCABULARY = Vocabulary.of(
    [
        "The diagnosis was well-known and the over-",
        "all state of the art is an open access paper; overall.",
        "The interferon was measured.",
    ]
)


@pytest.mark.parametrize(
    ("text", "line", "whole"),
    [
        ("a diag-", "nosis", "a diagnosis"),
        ("a well-", "known fact", "a well-known fact"),
        ("an open-", "access paper", "an open-access paper"),
        ("an over-", "all view", "an overall view"),
        ("state-of-", "the-art", "state-of-the-art"),
        ("SARS-", "CoV-2", "SARS-CoV-2"),
        ("COVID-", "19", "COVID-19"),
        ("a long-", "term series", "a long-term series"),
        ("a self-", "reported income", "a self-reported income"),
        ("an X-", "ray dose", "an X-ray dose"),
        ("the ferry-", "men", "the ferrymen"),
        ("a frame-", "work", "a framework"),
        ("an interferon-", "gamma assay", "an interferon-gamma assay"),
        ("an over -", "all view", "an overall view"),
        ("the esti -", "mates rose", "the estimates rose"),
        ("the mill -", "which stood", "the mill - which stood"),
        ("short-", "and long-term", "short- and long-term"),
        ("a soft\u00ad", "ware", "a software"),
        ("a sentence", "goes on", "a sentence goes on"),
    ],
)
def test_the_document_decides_what_a_hyphen_at_a_line_end_means(
    text: str, line: str, whole: str
) -> None:
    """ "diag nosis" is found by no search, and "wellknown" by none either."""
    assert glued(text, line, VOCABULARY) == whole


def test_halves_of_a_cut_word_are_no_words() -> None:
    """Counted as words, "diag" and "nosis" would prove the compound "diag-nosis"."""
    texts = ["A diag- nosis of iron-\ndeficiency by diag- nosis.", "short- and long-term"]

    vocabulary = Vocabulary.of_texts(texts)

    assert [mended(text, vocabulary) for text in texts] == [
        "A diagnosis of iron-deficiency by diagnosis.",
        "short- and long-term",
    ]


def test_a_line_without_spaces_is_looked_at_once() -> None:
    """Half a megabyte of it, as scripts without spaces have, took minutes: each letter began the
    search anew."""
    line = "x" * 500_000

    assert not ends_in_broken_word(line)
    assert ends_in_broken_word(line + "-")
    assert glued(line + "-", "y", Vocabulary()) == line + "y"
