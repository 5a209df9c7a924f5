"""Which sentences state formalities only, and which questions ask for them."""

import pytest

from rag_assets.answering.boilerplate import states_only_formalities
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.core.settings import ExtractiveSettings
from rag_assets_tests.answering.builders import chunk, context, readers

SUBJECT = "How did iron change ferritin in sheep?"
FORMALITIES = {
    "Ada Lund: Conceptualization; Funding acquisition; Writing - original draft.": "Who drafted the manuscript?",
    "Copyright: © 2005 Lund and Moe.": "Who holds the copyright?",
    "© The Authors 2019. All rights reserved.": "Under which licence is it?",
    "This is an open access article distributed under the terms of the Creative Commons License.": "Is it open access?",
    "The article permits unrestricted use, provided the original work is properly cited.": "Which rights are given?",
    "Correspondence and requests for materials should be addressed to A. Lund.": "Who is the corresponding author?",
    "Ada Lund is at the Institute of Sheep Science, Bergen, lund@sheep.example.": "What is the e-mail of Lund?",
    "Received: 29 July 2020; Accepted: 20 November 2020.": "When was the paper accepted?",
    "Citation: Lund A, Moe B (2005) Iron and ferritin in sheep.": "How is the paper cited?",
    "The authors declare that they have no competing interests.": "Did the authors declare competing interests?",
    "Competing Interests: AL was an author of one of the papers on iron in sheep.": "Is there a conflict of interest?",
    "This study of iron in sheep was supported by grants from the Wool Fund.": "Who funded the study?",
    "The authors received no specific funding for this work on iron in sheep.": "Was there any funding?",
    "Wool Fund, U.S. Department of Pastures (Grant no. W81-44211).": "Who gave the money for the study of sheep?",
    "All authors read and approved the final version of the manuscript.": "What did the authors contribute?",
    "We thank B. Moe for ferritin measurements in sheep.": "Whom do the authors thank?",
}


@pytest.mark.parametrize("sentence", FORMALITIES)
def test_formalities_answer_no_question_about_the_subject(sentence: str) -> None:
    """They hold the names and words of the paper, and were quoted as its findings."""
    assert states_only_formalities(sentence, SUBJECT)


@pytest.mark.parametrize(("sentence", "question"), FORMALITIES.items())
def test_a_question_that_asks_for_a_formality_may_get_it(sentence: str, question: str) -> None:
    """ "Who funded the study?" has an answer, and it is this sentence."""
    assert not states_only_formalities(sentence, question)


@pytest.mark.parametrize(
    "sentence",
    [
        "Sheep that received iron had higher ferritin than those that accepted hay.",
        "Ferritin was of particular interest in all groups of sheep.",
        "The findings are supported by two earlier studies of iron in sheep.",
        "We acknowledge that forty sheep from one pasture limit the findings.",
        "Competing hypotheses of iron uptake were tested in sheep.",
        "The symbol © = left told the sheep where to turn for iron.",
        "The corresponding values of ferritin are shown in the second table.",
        "Open access to pasture raised the ferritin of sheep.",
        "Grants of pasture land changed what sheep ate.",
        "Samples were collected on 3 May 2005 from forty sheep.",
        "Funding of flocks by the state fell in both regions.",
    ],
)
def test_findings_in_similar_words_are_no_formalities(sentence: str) -> None:
    """A finding left out is a question refused although the paper answers it."""
    assert not states_only_formalities(sentence, SUBJECT)


def test_formalities_are_never_chosen_for_a_question_about_the_subject() -> None:
    """The sentence with most words of the question is the one that says nothing about it."""
    paper = chunk(
        "sheep",
        "This study of iron and ferritin change in sheep was supported by grants from the Wool Fund. Iron raised the "
        "ferritin of sheep within a month of treatment.",
    )
    answerer = ExtractiveAnswerer(readers(), ExtractiveSettings(), min_sources=1)

    about_subject = answerer.draft(SUBJECT, [context(paper)])
    about_funding = answerer.draft("Who funded the study of iron in sheep by grants?", [context(paper)])

    assert [claim.text for claim in about_subject.claims] == [
        "Iron raised the ferritin of sheep within a month of treatment."
    ]
    assert "Wool Fund" in about_funding.claims[0].text


def test_a_list_of_roles_does_not_say_who_paid() -> None:
    """ "Funding acquisition" is the role of an author, and was quoted as the funder of the study."""
    roles = "Ada Lund: Conceptualization; Formal analysis; Funding acquisition; Resources."

    assert states_only_formalities(roles, "Who funded the study of sheep?")
