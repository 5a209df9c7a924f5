"""When the number of a claim is that of the table row it quotes."""

import pytest

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.objections import Reason
from rag_assets.answering.verify.quote_search import find_quote
from rag_assets.answering.verify.verification import VerifiedClaims, verify
from rag_assets.answering.wording import claim_note
from rag_assets.core.domain import Verification
from rag_assets_tests.answering.builders import chunk

DRUGS = """Table 1. Inhibitors of BRD4.
Drug: BMS-986158 | Phase: I | IC50 (nM): 3.4 | EC50 (nM): 7.7
Drug: JQ1 | Phase: II | IC50 (nM): 5.4 | EC50 (nM): 8.8"""
GROUPS = """Group: Placebo | Response (%): 38 | Age, years: 38.5 | Dose (mg): 20 | Change: -1.5
Group: Treated | Response (%): 45 | Age, years: 45.2 | Dose (mg): 10 | Change: 2.5"""
CHARACTERISTICS = "Mean age, years | 38\nWomen among them | 12\nCurrent smokers, n (%) | 54 (4.9)"
DUCKS = "2019 | Freshwater Ducks: 120 | Saltwater Ducks: 80\n2020 | Freshwater Ducks: 130 | Saltwater Ducks: 95"
PORTFOLIO = "Stocks | Value: $43,724 | Share of Account: 32\nTotal Stocks | Value: 50,656 | Share of Account: 37%"
MOMENTS = """Table 3. Scores by group.
Group: Control | M: 93.73 | SD: 3.87
Group: Training | M: 1,013 (207) | SD: 12.5"""
LOSSES = "Item: Loss | Sum: 850\nItem: Disallowed loss | Sum: 9\nItem: 22 March | Sum: 60\nItem: 19 March | Sum: 20"
SYMPTOMS = "Group: Zinc | Cough: 15 | Fever: 17\nGroup: Placebo | Cough: 17 | Fever: 15"
UNITS = "Item: Body weight | Unit: kg | Average: 553\nItem: Milk fat | Unit: % | Average: 4.0"
PENS = "Protein | Pen 1: 200 | Pen 2: 150"
EFFECTS = "Effect: Age | b: -0.35 | 95% CI: [86, 499] | p: < .001\nEffect: Sex | b: 0.12 | 95% CI: [12, 31] | p: .04"


def verified(claim: str, table: str, *rows: int, question: str = "") -> VerifiedClaims:
    """What is kept of a claim that quotes lines of a table, counted from 0."""
    source, lines = chunk("smith2020", table), table.split("\n")
    quotes = tuple(DraftCitation(source.chunk_id, lines[row]) for row in rows)
    return verify(DraftAnswer((DraftClaim(claim, quotes),)), {source.chunk_id: source}, question)


TRUE = [
    ("BMS-986158 has an IC50 of 3.4 nM.", DRUGS, [1]),
    ("The IC50 of BMS-986158 is 3.4.", DRUGS, [1]),
    ("BMS-986158 had an IC50 of 3.4 nM and JQ1 one of 5.4 nM.", DRUGS, [1, 2]),
    ("The IC50 was 3.4 nM for BMS-986158 and 5.4 nM for JQ1.", DRUGS, [1, 2]),
    ("The IC50s of BMS-986158 and JQ1 were 3.4 and 5.4 nM, respectively.", DRUGS, [1, 2]),
    ("Compared with JQ1, BMS-986158 had an IC50 of 3.4 nM.", DRUGS, [1]),
    ("BMS-986158 has an IC50 of 3.4 nM and an EC50 of 7.7 nM.", DRUGS, [1]),
    ("The EC50 and IC50 of JQ1 are 8.8 and 5.4 nM, respectively.", DRUGS, [2]),
    ("The loss was 850 and the disallowed loss 9.", LOSSES, [0, 1]),
    ("The sums of 22 March and 19 March were 60 and 20.", LOSSES, [2, 3]),
    ("Cough was 15 with zinc and 17 with placebo.", SYMPTOMS, [0, 1]),
    ("With placebo 38 % responded.", GROUPS, [0]),
    ("The placebo group was 38.5 years old on average.", GROUPS, [0]),
    ("About 39 years was the age of the placebo group.", GROUPS, [0]),
    ("The placebo group fell by 1.5.", GROUPS, [0]),
    ("The treated group was given 10 mg.", GROUPS, [1]),
    ("The participants were 38 years old on average.", CHARACTERISTICS, [0]),
    ("4.9 % were current smokers.", CHARACTERISTICS, [2]),
    ("In 2019 there were 120 freshwater ducks.", DUCKS, [0]),
    ("Stocks were worth $43,724.", PORTFOLIO, [0]),
    ("Stocks are 32 % of the account.", PORTFOLIO, [0]),
    ("Total stocks were worth 50656 dollars.", PORTFOLIO, [1]),
    ("The control group had a mean of 93.73 (SD 3.87).", MOMENTS, [1]),
    ("The training group had a mean of 1013 (207).", MOMENTS, [2]),
    ("Body weight was 553 kg.", UNITS, [0]),
    ("Milk fat was 4.0 %.", UNITS, [1]),
    ("The effect of age was b = -0.35 (95% CI [86, 499], p < .001).", EFFECTS, [0]),
    ("Protein was 200 in pen 1 and 150 in pen 2.", PENS, [0]),
]
FALSE = {
    "number of another row": [
        ("BMS-986158 has an IC50 of 5.4 nM.", DRUGS, [1]),
        ("With placebo 45 % responded.", GROUPS, [0]),
        ("The placebo group was 45 years old.", GROUPS, [0]),
        ("The placebo group was given 10 mg.", GROUPS, [0]),
        ("In 2019 there were 130 freshwater ducks.", DUCKS, [0]),
    ],
    "other number": [
        ("BMS-986158 has an IC50 of 3.5 nM.", DRUGS, [1]),
        ("The effect of age had a 95% CI of [87, 499].", EFFECTS, [0]),
        ("The effect of age was b = 0.35.", EFFECTS, [0]),
        ("The training group had a mean of 1013207.", MOMENTS, [2]),
        ("Women were thirteen.", CHARACTERISTICS, [1]),
    ],
    "other unit": [
        ("BMS-986158 has an IC50 of 3.4 mM.", DRUGS, [1]),
        ("The placebo group was given 20 g.", GROUPS, [0]),
        ("The placebo group was 38.5 months old.", GROUPS, [0]),
        ("Current smokers were 54 %.", CHARACTERISTICS, [2]),
        ("There were 12 kg of women.", CHARACTERISTICS, [1]),
        ("Stocks were worth €43,724.", PORTFOLIO, [0]),
        ("Milk fat was 4.0 kg.", UNITS, [1]),
    ],
    "other row": [
        ("JQ1 has an IC50 of 3.4 nM.", DRUGS, [1]),
        ("With treatment, in the treated group, 38 % responded.", GROUPS, [0]),
        ("In 2020 there were 120 freshwater ducks.", DUCKS, [0]),
        ("Total stocks were worth $43,724.", PORTFOLIO, [0]),
        ("Stocks were worth 50,656 dollars.", PORTFOLIO, [1]),
        ("Zeta-7 has an IC50 of 3.4 nM.", DRUGS, [1]),
        ("An IC50 of 3.4 nM was found for zetamycin.", DRUGS, [1]),
        ("BMS-986158 had an IC50 of 5.4 nM and JQ1 one of 3.4 nM.", DRUGS, [1, 2]),
        ("The IC50 was 5.4 nM for BMS-986158 and 3.4 nM for JQ1.", DRUGS, [1, 2]),
        ("The IC50s of JQ1 and BMS-986158 were 3.4 and 5.4 nM, respectively.", DRUGS, [1, 2]),
        ("The loss was 9 and the disallowed loss 850.", LOSSES, [0, 1]),
        ("Cough was 17 with zinc and 15 with placebo.", SYMPTOMS, [0, 1]),
        ("The disallowed loss was 850.", LOSSES, [0]),
    ],
    "other column": [
        ("BMS-986158 has an EC50 of 3.4 nM.", DRUGS, [1]),
        ("In 2019 there were 120 saltwater ducks.", DUCKS, [0]),
        ("The control group had an SD of 93.73.", MOMENTS, [1]),
        ("The value of stocks was 32.", PORTFOLIO, [0]),
        ("BMS-986158 has an EC50 of 3.4 nM and an IC50 of 7.7 nM.", DRUGS, [1]),
        ("Protein was 150 in pen 1 and 200 in pen 2.", PENS, [0]),
    ],
}
NOT_SEEN_BY_RULES = [
    (
        "The control group had a mean of 3.87 (SD 93.73).",
        MOMENTS,
        [1],
    ),  # the table says "M" for the mean
    ("Its IC50 is 3.4 nM.", DRUGS, [1]),  # whatever drug was asked about
    (
        "The response was 20 %.",
        "Response (%): 38 | Dose: 20",
        [0],
    ),  # the column has no unit of its own
]


@pytest.mark.parametrize(("claim", "table", "rows"), TRUE)
def test_a_claim_that_says_what_its_cell_says_is_kept(
    claim: str, table: str, rows: list[int]
) -> None:
    """A true claim that is dropped is an answer lost."""
    kept = verified(claim, table, *rows)

    assert [one.text for one in kept.claims] == [claim]
    assert [one.quote for one in kept.claims[0].citations] == [
        table.split("\n")[row] for row in rows
    ]


@pytest.mark.parametrize(
    ("claim", "table", "rows"), [case for cases in FALSE.values() for case in cases]
)
def test_a_claim_with_what_another_cell_says_is_dropped_or_doubted(
    claim: str, table: str, rows: list[int]
) -> None:
    """Half of what papers report stands in tables; a number beside the wrong drug is a false answer
    with a proof."""
    kept = verified(claim, table, *rows)

    assert all(one.objection for one in kept.outcomes)
    assert {Reason.NUMBER_MISSING, Reason.NUMBER_MISPLACED, Reason.NAME_MISSING} & {
        one.objection.reason for one in kept.objected if one.objection
    }


@pytest.mark.parametrize(("claim", "table", "rows"), NOT_SEEN_BY_RULES)
def test_a_claim_that_does_not_name_its_cell_is_left_to_the_second_look(
    claim: str, table: str, rows: list[int]
) -> None:
    """Rules compare the names of rows and columns as they are written. What names none, or names
    one by another word than the table, only the second look by a model can hold against the table;
    without a model it is published."""
    assert verified(claim, table, *rows).claims


def test_a_wrong_number_that_the_question_holds_is_left_to_the_second_look() -> None:
    """Answers repeat the numbers they were asked about; only a model can tell that "Is it 5.4 nM?"
    was not affirmed."""
    question = "Is the IC50 of BMS-986158 5.4 nM?"

    assert verified("The IC50 of BMS-986158 is 5.4 nM.", DRUGS, 1, question=question).claims


def test_what_is_named_as_left_out_names_no_row() -> None:
    """ "Without RAG" was taken for the row of RAG, and the true claim dropped."""
    table = "Table 6. Accuracy.\nSystem: Plain model | Accuracy: 45\nSystem: RAG | Accuracy: 61"

    assert verified("Accuracy without RAG was 45.", table, 1).claims
    assert not verified("Accuracy with RAG was 45.", table, 1).claims


def test_a_table_of_one_row_needs_no_name() -> None:
    """Nothing can be mixed up in it."""
    table = "Response (%): 38 | Dose (mg): 20"

    assert verified("The response was 38 %.", table, 0).claims
    assert not verified("The response was 45 %.", table, 0).claims
    assert not verified("The response was 20 %.", table, 0).claims


def test_the_unit_of_a_number_may_stand_in_the_caption() -> None:
    """Tables of one unit name it once, above everything."""
    table = "Table 2. Serum ferritin (ng/ml).\nGroup: Men | Before: 31 | After: 25\nGroup: Women | Before: 12 | After: 19"

    assert verified("Ferritin of men before was 31 ng/ml.", table, 1).claims
    assert not verified("Ferritin of men before was 31 mg/ml.", table, 1).claims


BARE = "BMS-986158 | I | 3.4 | 7.7\nJQ1 | II | 5.4 | 8.8"
GROUP_ABOVE = "Table 4. Responses.\nGroup: Placebo | Response (%): 38\nWomen\nGroup: Treated | Response (%): 45"
TWINS = "Table 5. Tax rates.\nItem: Effective rate | Share: 21\nItem: Effective rate | Share: 24"


@pytest.mark.parametrize(
    ("table", "row", "claim"),
    [
        (BARE, 0, "BMS-986158 reaches 3.4."),
        (BARE, 0, "BMS-986158 | I | 3.4 | 7.7"),
        (GROUP_ABOVE, 3, "With treatment 45 % responded."),
        (TWINS, 1, "The effective rate was 21 %."),
    ],
)
def test_words_of_a_row_that_is_not_certain_are_found_and_prove_nothing_alone(
    table: str, row: int, claim: str
) -> None:
    """The number of another year stood under "word for word in the paper": the seal was for the
    words only."""
    prose, line = "The rates are 21 %, 45 and 3.4 in all groups.", table.split("\n")[row]
    source = chunk("smith2020", f"{table}\n\n{prose}")

    def claimed(*quotes: str) -> VerifiedClaims:
        cited = tuple(DraftCitation(source.chunk_id, quote) for quote in quotes)
        return verify(DraftAnswer((DraftClaim(claim, cited),)), {source.chunk_id: source}, claim)

    alone, beside_prose = claimed(line), claimed(line, prose)

    assert [one.objection.reason for one in alone.objected if one.objection] == [
        Reason.ROW_UNCERTAIN
    ]
    (kept,) = beside_prose.claims
    assert [one.verification for one in kept.citations] == [
        Verification.UNPLACED,
        Verification.EXACT,
    ]
    assert claim_note(kept) == "the words are in the paper; read the row in the table"


def test_a_row_that_is_certain_has_the_seal_in_whole_and_in_part() -> None:
    """A reader who is sent to the table for each number soon looks nowhere."""
    found = [
        find_quote(quote, DRUGS) for quote in (DRUGS.split("\n")[1], "Phase: I | IC50 (nM): 3.4")
    ]

    assert [[place.verification for place in places] for places in found] == [
        [Verification.EXACT]
    ] * 2


def test_a_row_with_its_own_name_is_certain_below_a_sum_without_one() -> None:
    """No row of a statement that begins with its opening balance could be cited."""
    table = (
        "Table 6. Moves.\nItem: Opening balance | Left: 12.5\n"
        "Date: 17 May | Item: Interest | Taken: 0.4 | Left: 12.1\nItem: Hay | Taken: 2.1 | Left: 10.0"
    )

    verdicts = [find_quote(row, table)[0].verification for row in table.split("\n")[2:]]

    assert verdicts == [Verification.EXACT, Verification.UNPLACED]


def test_prose_quoted_beside_a_row_holds_its_own_numbers() -> None:
    """A claim may rest on a sentence and a row together."""
    text = f"We treated 120 patients for six weeks in two countries.\n\n{DRUGS}"
    source = chunk("smith2020", text)
    quotes = tuple(
        DraftCitation(source.chunk_id, quote)
        for quote in (
            "We treated 120 patients for six weeks in two countries.",
            DRUGS.split("\n")[1],
        )
    )

    def is_kept(claim: str) -> bool:
        return bool(
            verify(DraftAnswer((DraftClaim(claim, quotes),)), {source.chunk_id: source}, "").claims
        )

    assert is_kept("In 120 patients BMS-986158 had an IC50 of 3.4 nM.")
    assert not is_kept("In 130 patients BMS-986158 had an IC50 of 3.4 nM.")
