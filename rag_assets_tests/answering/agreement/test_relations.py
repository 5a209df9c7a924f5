"""What two sentences of different papers are to each other."""

import pytest

from rag_assets.answering.agreement.comparing import relation
from rag_assets.answering.agreement.statements import statement_of
from rag_assets.domain import Relation

AGREE, CONTRADICT, DIFFERENT = Relation.AGREE, Relation.CONTRADICT, Relation.DIFFERENT


def related(one: str, other: str) -> Relation | None:
    """How they relate, whichever is read first."""
    found = relation(statement_of(one), statement_of(other))
    assert relation(statement_of(other), statement_of(one)) == found, "the order of reading decides"
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The incubation period of the virus was 5.1 days.", "The incubation period of the virus was 122 hours."),
        ("The incubation period of the virus was 5 to 6 days.", "The incubation period of the virus was 5.5 days."),
        (
            "Survival of seedlings in the drought was 50%.",
            "Survival of seedlings in the drought was 48% (95% CI 44-52).",
        ),
        ("Gravel yield of the river was 2.1 kg per day.", "Gravel yield of the river was 2100 g per day."),
    ],
)
def test_equal_figures_agree_in_other_units_ranges_and_intervals(one: str, other: str) -> None:
    """Papers that support each other would be shown as if they did not."""
    assert related(one, other) is AGREE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The incubation period of the virus was 5.1 days.", "The incubation period of the virus was 9 days."),
        ("The incubation period of the virus was 5 to 6 days.", "The incubation period of the virus was 14 days."),
        ("Ferritin of trained runners fell after the season.", "Ferritin of trained runners rose after the season."),
        ("Vitamin D reduces the risk of falls.", "Vitamin D does not reduce the risk of falls."),
        ("Iron tablets improved endurance of runners.", "Iron tablets had no effect on endurance of runners."),
        ("Wear decreases with increasing hardness of steel.", "Wear increases with increasing hardness of steel."),
        ("Reaction time was unaffected by sleep loss.", "Sleep loss slowed reaction time by 40 ms."),
    ],
)
def test_opposite_findings_and_far_figures_contradict(one: str, other: str) -> None:
    """A reader would take one side's figure without learning that another paper says otherwise."""
    assert related(one, other) is CONTRADICT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wear decreases with increasing hardness of steel.", "Wear increases with decreasing hardness of steel."),
        ("Higher hardness was associated with lower wear.", "Lower hardness was associated with higher wear."),
        ("Stronger fields reduce heat transfer.", "Heat transfer decreases as the field grows stronger."),
        ("Iron tablets had no effect on endurance of runners.", "Endurance of runners was unaffected by iron tablets."),
    ],
)
def test_a_finding_turned_round_is_the_same_finding(one: str, other: str) -> None:
    """ "The more, the less" and "the less, the more" would be called a contradiction."""
    assert related(one, other) is AGREE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The incubation period in children was 5 days.", "The incubation period in adults was 9 days."),
        ("Ferritin of male runners fell after the season.", "Ferritin of female runners rose after the season."),
        ("The incubation period of SARS was 5 days.", "The incubation period of MERS was 9 days."),
        ("Drag fell in laminar flow past the plate.", "Drag rose in turbulent flow past the plate."),
        ("Iron tablets improved endurance of runners.", "Iron tablets no longer improved endurance of runners."),
        ("Ferritin of Kenyan runners fell after the season.", "Ferritin of Norwegian runners rose after the season."),
        (
            "Ferritin fell in runners of the club that trained on snow at high altitude in mountains of Kenya.",
            "Ferritin of runners of the club rose.",
        ),
        ("Fever of infants was over 38 °C in the ward.", "Fever of infants was over 50 °C in the ward."),
        (
            "Fever of mice was 38, 39, 40 and 41 °C on the days of the trial.",
            "Fever of mice was 18, 19, 20 and 21 °C on the days of the trial.",
        ),
        ("The outbreak in the city had 300 cases.", "The outbreak in the city had 800 cases."),
        ("Ferritin of runners was 31 µg/l in spring.", "Ferritin of runners was 33 µg/l in spring."),
    ],
)
def test_other_populations_conditions_and_near_figures_do_not_contradict(one: str, other: str) -> None:
    """A false contradiction makes a reader distrust two papers that are both right."""
    assert related(one, other) is DIFFERENT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The incubation period of the virus was 5 days.", "The dose of the vaccine was 9 µg in both arms."),
        ("Ferritin fell after the season.", "Hepcidin rose after breakfast."),
        ("Endurance of runners did not rise after training.", "Endurance of runners fell after training."),
        ("We expected that iron tablets improve endurance.", "Iron tablets did not improve endurance."),
        ("This dose improved endurance of runners.", "This dose did not improve endurance of runners."),
        ("In all, 34 runners of the club were tested.", "In all, 90 runners of the club were tested."),
        ("Iron changed endurance, F(1, 28) = 8.01, p = .003.", "Iron changed power, F(1, 31) = 4.40, p = .040."),
        ("The tests were conducted at a pressure of 2 kPa.", "The tests were conducted at a pressure of 5 kPa."),
        ("The main effect of diet on sleep was significant.", "The interaction of diet and sleep was not significant."),
        ("There was an effect of depth on recall of words.", "There was no effect of age on recall of words."),
        ("The mean age of runners of the club was 31 years.", "The mean age of runners of the club was 58 years."),
        ("An upper and lower bound of the load is given.", "An upper and greater bound of the load is given."),
        ("Iron and endurance of runners, 95% CI.", "Iron and endurance of runners, 95% CI."),
        ("Iron and endurance of runners: d = 0.41.", "Iron and endurance of runners: d = 0.93."),
        ("", ""),
    ],
)
def test_nothing_is_said_of_sentences_that_cannot_be_compared(one: str, other: str) -> None:
    """What is supposed, points to a sentence left out, or describes one study's sample contradicts nothing."""
    assert related(one, other) is None


def test_several_findings_of_which_some_agree_are_no_contradiction() -> None:
    """Two papers that share a result would be shown as opponents for the other one."""
    one = "Isolation increased loneliness of mice, while appetite of mice rose."
    other = "Isolation increased loneliness of mice, while appetite of mice fell."

    assert related(one, other) is DIFFERENT


def test_a_symbol_that_a_parser_took_apart_is_one_word() -> None:
    """The 0 of "R 0" would be read as a figure."""
    assert related("The R 0 of measles was 15.", "The R0 of measles was 15.2.") is AGREE
