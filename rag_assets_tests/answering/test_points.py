"""Which sentences of a paper tell what was asked, done and found, and what limits it."""

import pytest

from rag_assets.answering.extractive.points import told_points
from rag_assets.domain import Context, Point

PAPER = {
    "Abstract": "Iron is lost in sweat. We examined whether iron is lost faster in winter. "
    "A total of 120 runners were recruited from two clubs. Runners who trained in winter lost 12% more iron.",
    "Introduction": "Smith et al. (2011) found that iron falls by 30% in summer. Iron matters to runners of all ages.",
    "Methods": "Blood was taken on Mondays. We excluded two runners because they moved away.",
    "Results": "Iron fell in both groups, b = 0.31, p < .001. Figure 2 shows the iron of every runner.",
    "Discussion": "Our study has several limitations. First, only members of two clubs took part in it. "
    "Second, their meals were known from their own diaries.",
}


def told(paper: dict[str, str]) -> dict[Point, list[str]]:
    contexts = [
        Context("iron", f"iron:{nth}", 1, 1, len(text.split()), text, section_title=title)
        for nth, (title, text) in enumerate(paper.items())
    ]
    return {point: [claim.text for claim in claims] for point, claims in told_points(contexts, in_order=True).items()}


def test_each_point_is_told_by_the_sentence_that_says_it() -> None:
    """A summary that gives the background as the finding misleads whoever reads no further."""
    points = told(PAPER)

    assert points[Point.ASKED] == ["We examined whether iron is lost faster in winter."]
    assert points[Point.DONE] == ["A total of 120 runners were recruited from two clubs."]
    assert points[Point.FOUND] == ["Runners who trained in winter lost 12% more iron."]
    assert points[Point.LIMITS][0] == "First, only members of two clubs took part in it."


def test_what_others_found_is_no_finding_of_the_paper() -> None:
    """The reader would credit the paper with the results that it sets out to refute."""
    without_own = {title: text for title, text in PAPER.items() if title == "Introduction"}

    assert told(without_own)[Point.FOUND] == []


def test_a_point_that_nothing_tells_stays_empty() -> None:
    """A sentence about something else, under a heading that says it is a limitation, is worse than none."""
    points = told({"Abstract": "Iron is lost in sweat. It is also lost in other ways that are known to all runners."})

    assert points == {point: [] for point in Point}


def test_labels_of_an_abstract_decide_and_are_not_shown() -> None:
    """ "METHODS: " in front of a sentence says nothing under "What was done"."""
    abstract = (
        "Abstract: BACKGROUND: Iron is lost in sweat all the time. "
        "OBJECTIVE: To describe the loss of iron of runners in winter. "
        "METHODS: Blood of the members of two clubs was kept and looked at. It was looked at once more in spring. "
        "RESULTS: Winter took its part of the iron of most runners."
    )

    points = told({"": abstract})

    assert points[Point.ASKED] == ["To describe the loss of iron of runners in winter."]
    assert points[Point.DONE][0] == "Blood of the members of two clubs was kept and looked at."
    assert points[Point.FOUND] == ["Winter took its part of the iron of most runners."]


def test_a_sentence_tells_one_point_only() -> None:
    """The same sentence twice reads like a fault of the printer."""
    points = told({"Abstract": "We examined 120 runners and found that winter takes 12% more of their iron."})

    assert sum(len(said) for said in points.values()) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "Future research should examine runners in warmer countries.",
        "The results should be interpreted with caution, since few runners took part.",
        "We cannot rule out that those who moved away lost more iron.",
    ],
)
def test_usual_wordings_of_limits_are_known(sentence: str) -> None:
    """A limit that the authors name and the summary does not makes a study look better than it is."""
    assert told({**PAPER, "Discussion": f"Iron matters to all runners. {sentence}"})[Point.LIMITS] == [sentence]


def test_a_finding_with_its_figure_stands_beside_findings_without_one() -> None:
    """Readers ask how much; the abstract says only that there was more."""
    abstract = (
        "We examined whether iron is lost faster in winter. A total of 120 runners were recruited from two clubs. "
        "We found that runners who train in winter lose more iron. We conclude that winter costs runners iron."
    )
    detail = "Overall, our follow-up analysis showed that summer took 31% more iron of runners."
    results = f"{detail} Overall, our results showed that winter took 12% more iron."

    found = told({"Abstract": abstract, "Discussion": results})[Point.FOUND]

    assert found[-1] == "Overall, our results showed that winter took 12% more iron."
    assert "We found that runners who train in winter lose more iron." in found
    assert detail not in found
    assert len(told(PAPER)[Point.FOUND]) == 1, "a finding that has its figure needs no other"


@pytest.mark.parametrize("null", ["Iron did not differ in winter.", "The loss was not different in winter."])
def test_that_nothing_was_found_is_a_finding(null: str) -> None:
    """A summary without it lets the reader think that the effect was not looked for."""
    abstract = f"Iron is lost in sweat. We examined whether iron is lost faster in winter. Runners were weighed. {null}"

    assert told({"Abstract": abstract})[Point.FOUND] == [null]
