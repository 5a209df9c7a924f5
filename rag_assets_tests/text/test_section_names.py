"""What the name of a section says."""

import pytest

from rag_assets.domain import Zone
from rag_assets.text.section_names import is_plain_section_name, is_section_name, zone_named


@pytest.mark.parametrize(
    ("title", "zone"),
    [
        ("REFERENCES", Zone.BACK),
        ("7. References and notes", Zone.BACK),
        ("Acknowledgments and funding", Zone.BACK),
        ("Abstract", Zone.FRONT),
        ("Appendix A: Proofs", Zone.ANNEX),
        ("APPENDIX IV", Zone.ANNEX),
        ("Supplementary methods", Zone.ANNEX),
        ("IV. Results", None),
        ("Reference values of ferritin", None),
        ("Disclosure", None),
    ],
)
def test_a_name_states_its_zone(title: str, zone: Zone | None) -> None:
    """References in the index answer questions with other papers' titles; an appendix taken for them is lost."""
    assert zone_named(title) is zone


@pytest.mark.parametrize(
    "title", ["3 Materials and Methods", "II. Discussion", "Conclusions and Future Work:", "Appendix"]
)
def test_the_usual_names_are_known_with_their_numbers(title: str) -> None:
    """Without them the sections of a paper whose headings look like its text run together."""
    assert is_plain_section_name(title)


def test_a_sentence_that_starts_with_a_name_is_no_plain_name() -> None:
    """A line of a PDF may start with any word; a caption taken for a heading hides the section it is in."""
    line = "Supplementary Figure S1 shows the same"

    assert is_section_name(line)
    assert not is_plain_section_name(line)
