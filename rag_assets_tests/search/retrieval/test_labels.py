"""The labels of elements in questions, at the beginning of elements, and in headings."""

import pytest

from rag_assets.search.retrieval.elements import label_before, label_of_section, labels_in


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What does Figure 2 show?", ["Figure 2"]),
        ("what is in fig. 3a and tab. S1?", ["Figure 3A", "Table S1"]),
        ("Compare Tables 1 and 2.", ["Table 1", "Table 2"]),
        ("What does § 3.2 say?", ["Section 3.2"]),
        ("What is in Appendix B?", ["Appendix B"]),
        ("What does Table II list?", ["Table 2"]),
        ("What does Theorem 2 state?", ["Theorem 2"]),
        ("What is equation (4)?", ["Equation 4"]),
        ("Which figure I saw was an example of a table?", []),
        ("How common is type 2 diabetes in 2019?", []),
    ],
)
def test_labels_of_a_question_are_known_by_their_form(question: str, labels: list[str]) -> None:
    """ "Figure 2" was searched for like any two words, and most papers have both."""
    assert [str(one.label) for one in labels_in(question)] == labels


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Figure 2. Load against time.", "Figure 2"),
        ("Fig. 3 | Load", "Figure 3"),
        ("Table 1 Ropes by fibre", "Table 1"),
        ("Lemma 4 (Moe). No rope holds.", "Lemma 4"),
        ("Figure 2 shows the load.", None),
        ("The load is in Figure 2.", None),
    ],
)
def test_an_element_begins_with_its_label_and_a_sentence_about_it_does_not(
    text: str, label: str | None
) -> None:
    """A sentence about a figure was told as its caption."""
    found = label_before(text)

    assert (found and str(found)) == label


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("3.2 Soot", "Section 3.2"),
        ("IV. Results", "Section 4"),
        ("Appendix B: Letters", "Appendix B"),
        ("Chapter 3: Ropes", "Section 3"),
        ("Results", None),
    ],
)
def test_a_heading_gives_its_section_a_label(title: str, label: str | None) -> None:
    """ "What does section 3.2 say?" was refused, or answered from any section."""
    found = label_of_section(title)

    assert (found and str(found)) == label
