"""What the name of a section says."""

import pytest

from rag_assets.core.domain import Zone
from rag_assets.core.text.headings import (
    is_plain_section_name,
    is_section_name,
    section_kinds,
    zone_named,
)


@pytest.mark.parametrize(
    ("title", "zone"),
    [
        ("REFERENCES", Zone.BACK),
        ("7. References and notes", Zone.BACK),
        ("Acknowledgments and funding", Zone.STATEMENTS),
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
    """References in the index answer questions with other papers' titles; an appendix taken for
    them is lost."""
    assert zone_named(title) is zone


@pytest.mark.parametrize(
    "title",
    ["3 Materials and Methods", "II. Discussion", "Conclusions and Future Work:", "Appendix"],
)
def test_the_usual_names_are_known_with_their_numbers(title: str) -> None:
    """Without them the sections of a paper whose headings look like its text run together."""
    assert is_plain_section_name(title)


def test_a_sentence_that_starts_with_a_name_is_no_plain_name() -> None:
    """A line of a PDF may start with any word; a caption taken for a heading hides the section it
    is in."""
    line = "Supplementary Figure S1 shows the same"

    assert is_section_name(line)
    assert not is_plain_section_name(line)


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("2.1 Methods", "methods"),
        ("Patients and Methods > Participants", "methods participants"),
        ("2. Experimental", "methods"),
        ("Simulation results", "results"),
        ("Limitations of the present study", "discussion limitations"),
        ("Related work > Neural methods", "background"),
        ("Methods > Ethics statement", "ethics methods statements"),
        ("Funding sources", "funding statements"),
        ("Data availability", "data statements"),
        ("Conclusion: what the mills taught us", "conclusion"),
        ("7. REFERENCES", "references"),
        ("III. RESULTS AND DISCUSSION", "discussion results"),
        ("4 Conclusions and Limitations", "conclusion discussion limitations"),
        ("Abstract > Results", "abstract results"),
        ("Study 2 > Apparatus and stimuli", "methods"),
        ("Supplementary Methods", "appendix"),
        ("Appendix A: Proofs > Introduction", "appendix introduction"),
        ("The results of Smith", "other"),
        ("Methods and madness", "other"),
        ("", "other"),
    ],
)
def test_the_headings_above_a_text_state_its_kind(path: str, kinds: str) -> None:
    """A filter on sections is as good as this: a kind that is guessed hides the text that
    answers."""
    assert sorted(section_kinds(path.split(" > "))) == kinds.split()
