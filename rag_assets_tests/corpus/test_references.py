"""Reference lists taken apart, the places that refer to them, and whose finding such a sentence
tells."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from rag_assets.core.domain import Block, BlockKind, Zone
from rag_assets.core.promises import check_all
from rag_assets.core.tables import REFERENCES
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.each_paper import EachPaperCandidate
from rag_assets.corpus.references import (
    REFERENCE_PROMISES,
    Reference,
    mentions_in,
    reference_rows,
    references_of,
    supposes,
    update_references,
)
from rag_assets.corpus.statements.making import statements_of
from rag_assets_testing.in_place import in_place
from rag_assets_testing.paper_rows import InMemory, Unread, updated
from rag_assets_tests.corpus.chunking.papers import (
    WordCounter,
    blocks_table,
    paragraph,
    statements_table,
)

LUND = Reference(1, "Lund A, Moe B (2019). Iron in winter. J Soil 4, 1–9. doi:10.5555/iron.1.")
MOE = Reference(2, "Moe, B., van der Berg, C.: Basalt and water. Rock Letters 7 (2021b)")
ROE = Reference(3, "Roe D (2021a). Snow.")


def back(text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> Block:
    return Block(kind, text, ("References",), Zone.BACK)


def entries_of(blocks: list[Block]) -> list[Reference]:
    return references_of(statements_of(blocks, WordCounter()))


def test_a_numbered_list_is_cut_at_its_numbers() -> None:
    """Readers of PDFs tear entries apart and put several into one block."""
    blocks = [
        back("[1] A. Lund, Iron in"),
        back("winter. Journal of Soil, 2019. [2] B. Moe, Basalt, pp. 3. 2020."),
        back("[3] C. Roe, Snow, 2021.\n[4] D. Poe, Ice, 2022.", BlockKind.LIST),
    ]

    assert [(entry.number, entry.text) for entry in entries_of(blocks)] == [
        (1, "A. Lund, Iron in winter. Journal of Soil, 2019."),
        (2, "B. Moe, Basalt, pp. 3. 2020."),
        (3, "C. Roe, Snow, 2021."),
        (4, "D. Poe, Ice, 2022."),
    ]


def test_a_lost_entry_does_not_end_the_list() -> None:
    """ "5. 7." would else be one entry, and all that follow."""
    entries = entries_of(
        [back("1. A. 2019.\n2. B, vol. 9. 2020.\n4. D. 2022.\n5. E. 2023.", BlockKind.LIST)]
    )

    assert [(entry.number, entry.text) for entry in entries] == [
        (1, "A. 2019."),
        (2, "B, vol. 9. 2020."),
        (4, "D. 2022."),
        (5, "E. 2023."),
    ]


def test_in_an_unnumbered_list_a_piece_without_a_year_goes_on_with_the_entry() -> None:
    blocks = [
        back("Lund, A. (2019). Iron in winter."),
        back("Journal of Soil, 4, 1-9."),
        back("Moe, B. (2020). Basalt."),
    ]

    assert [entry.text for entry in entries_of(blocks)] == [
        "Lund, A. (2019). Iron in winter. Journal of Soil, 4, 1-9.",
        "Moe, B. (2020). Basalt.",
    ]


def test_a_whole_list_has_an_entry_a_line_with_a_year_or_without() -> None:
    """The numbers of a paper's marks count such entries, too."""
    assert (
        len(
            entries_of(
                [back("Lund A (2019). Iron\nSoil handbook\nMoe B (2020). Basalt", BlockKind.LIST)]
            )
        )
        == 3
    )


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("It falls [1]. It rises [1, 3].", (1, 3)),
        ("It falls [1–3].", (1, 2, 3)),
        ("It falls ¹,³ by 10² m².", (1, 3)),
        ("It falls (Lund & Moe, 2019).", (1,)),
        ("Moe and van der Berg's (2021b) basalt", (2,)),
        ("(Moe, & Van Der Berg, 2021b)", (2,)),
        ("For example, Lund and Moe (2019) saw it; see Roe, 2021a.", (1, 3)),
        ("Moe et al. (2021) and Roe (2021a)", (2, 3)),
        ("In May 2019 [7] it fell.", ()),
    ],
)
def test_marks_find_their_entries(text: str, entries: tuple[int, ...]) -> None:
    """Years of data, exponents and numbers that no entry has are no marks."""
    assert mentions_in([text], [LUND, MOE, ROE]) == [entries]


@pytest.mark.parametrize(
    ("alone", "together"),
    [
        ("Diamond A (2012). Activities.", "Diamond A, Lee K (2012). Interventions."),
        ("Diamond, A. (2012). Activities.", "Diamond, A., & Lee, K. (2012). Interventions."),
        ("A. Diamond. Activities, 2012.", "A. Diamond and K. Lee. Interventions, 2012."),
    ],
)
def test_one_name_means_the_work_of_one_author(alone: str, together: str) -> None:
    """A claim would be laid on authors who did not make it."""
    entries = [Reference(1, alone), Reference(2, together)]

    assert mentions_in(["Play helps (Diamond, 2012)."], entries) == [(1,)]
    assert mentions_in(["Play helps (Diamond & Lee, 2012)."], entries) == [(2,)]
    assert mentions_in(["Play helps (Diamond et al., 2012)."], entries) == [(2,)]


def test_a_name_and_year_that_most_of_a_list_has_name_no_entry() -> None:
    """A hostile list of 2,000 equal entries, cited 4,000 times, would else make 8 million rows."""
    alike = [Reference(number, f"Lund A (2019). Part {number}.") for number in range(1, 101)]

    assert mentions_in(["It falls (Lund, 2019), not (Moe, 2021b)."], [*alike, MOE]) == [(2,)]


def test_a_paper_has_one_way_to_refer() -> None:
    """Its equation (1) is no work."""
    found = mentions_in(
        ["By (1), iron falls (Lund, 2019; Moe, 2021b; Roe, 2021a).", "See (2)."], [LUND, MOE, ROE]
    )

    assert found == [(1, 2, 3), ()]


@pytest.mark.parametrize(
    ("section", "before", "sentence", "is_reported"),
    [
        ("Introduction", "Snow lay.", "Iron falls in winter [1].", True),
        ("Introduction", "Snow lay.", "We follow the scheme of Lund [1].", False),
        ("Introduction", "Snow lay.", "The present study extends earlier work [1].", False),
        ("Introduction", "We dug wells.", "The wells follow the scheme of Lund [1].", False),
        ("Introduction", "We dug wells.", "Iron falls in winter [1].", True),
        ("Methods", "Snow lay.", "Iron was measured as described before [1].", False),
        ("Site and sampling", "Snow lay.", "Iron was measured as described before [1].", False),
        ("4 Comparing fairly", "Snow lay.", "Iron was measured as described before [1].", True),
        (
            "Discussion",
            "Snow lay.",
            "Others found less iron in wet soils, i.e. after rain [1].",
            True,
        ),
        ("Discussion", "Snow lay.", "More soils should be dug, as in older work [1].", False),
    ],
)
def test_a_sentence_with_a_mark_reports_unless_the_paper_speaks_of_itself(
    section: str, before: str, sentence: str, is_reported: bool
) -> None:
    """ "Site and sampling" comes behind "Methods" here, and is read as a part of it; a numbered
    section is none."""
    blocks = [
        paragraph("Soils were dug.", "Methods"),
        paragraph(f"{before} {sentence}", section),
        back("[1] Lund, A. Iron in winter. 2019.\n[2] Moe, B. Basalt. 2020.", BlockKind.LIST),
    ]

    statements = statements_of(blocks, WordCounter())
    rows = reference_rows("smith2020", statements)

    [mention] = rows[0]["mentions"]
    assert statements[mention["statement"]].text == sentence
    assert (mention["is_reported"], rows[1]["mentions"]) == (is_reported, [])


def test_a_paper_that_passes_the_limits_stops_no_other() -> None:
    """One hostile reference list would end every run."""
    statements = statements_table(
        blocks_table(
            {"bad": [back("Lund A (2019). Iron.")], "good": [back("Moe B (2020). Basalt.")]}
        )
    )

    def limited(work: Any, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for item, rows in in_place(work, items):
            yield (
                item,
                Failure("took too long", is_worker_lost=True) if item.paper_id == "bad" else rows,
            )

    first = updated(
        lambda published: update_references(published, InMemory(statements), limited), REFERENCES
    )
    again = updated(
        lambda published: update_references(published, Unread(statements), limited),
        REFERENCES,
        first,
    )

    assert first.table["paper_id"].to_pylist() == ["good"]
    assert [(one.paper_id, one.error.endswith("took too long")) for one in first.quarantined] == [
        ("bad", True)
    ]
    assert (again.plan.is_noop, again.quarantined) == (True, first.quarantined), (
        "it is tried again when it changes"
    )
    candidate = EachPaperCandidate({"good": "mark"}, {"bad", "good"}, first.quarantined)
    checked = check_all(REFERENCE_PROMISES, candidate)
    assert {one.promise.name: len(one.offenders) for one in checked} == {
        "all_looked_at": 0,
        "none_quarantined": 1,
    }


@pytest.mark.parametrize(
    ("sentence", "section", "is_supposed"),
    [
        ("We hypothesised that smoke would calm them.", "Introduction", True),
        ("Earlier keepers believed that birch makes bees swarm.", "Introduction", True),
        ("A popular myth holds that vinegar stops rust.", "Abstract", True),
        ("We plan to test wax next year.", "Discussion", True),
        ("We tested whether smoke calms bees.", "Methods", True),
        ("If pine were burned, stings might rise.", "Discussion", True),
        ("The hypothesis that smoke calms bees was rejected.", "Discussion", False),
        ("Most keepers believed that birch makes bees swarm.", "Results", False),
        ("Smoke calmed the bees.", "Discussion", False),
        ("According to Lund (1998), smoke calms bees.", "Discussion", True),
        ("Bees allegedly fear smoke.", "Introduction", True),
        ("H1: Smoke calms bees.", "2 Hypotheses", True),
        ("Trials with wax will show it.", "Discussion > Future work", True),
        ("In our trial smoke calmed bees.", "Myths of keepers", False),
    ],
)
def test_a_sentence_that_only_supposes_tells_no_finding(
    sentence: str, section: str, is_supposed: bool
) -> None:
    """What somebody expected, claimed or plans was told as what was found."""
    assert supposes(sentence, section) is is_supposed
