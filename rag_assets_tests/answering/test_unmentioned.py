"""Words of a question of which the papers quoted do not speak: found by the answerer, looked up in the index, said."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.citations.support import EmbeddedSupport
from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim, Readers, kept_drafts
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.extractive.unmentioned import unmentioned
from rag_assets.answering.pipeline import AnswerPipeline
from rag_assets.answering.thorough.plans import Part
from rag_assets.answering.thorough.union import AskedPart, united
from rag_assets.answering.trace import AnswerTrace, Finished
from rag_assets.domain import Context, Evidence
from rag_assets.kept import KeptFile
from rag_assets.questions import Question
from rag_assets.settings import AnsweringSettings, ExtractiveSettings
from rag_assets_tests.answering.builders import Says, WordEncoder, WordReader, chunk, context, evidence

SURVEY = chunk(
    "survey",
    "Of all tuberculosis cases in the province 12% were found by screening. The cases of tuberculosis were treated "
    "with a drug for six months.",
)
FARM = chunk("farm", "The farm kept resistant sheep of an old breed in the hills during the whole winter.")


def missing(question: str, *contexts: Context) -> tuple[str, ...]:
    return unmentioned(question, contexts or [context(SURVEY)], WordReader())


def test_a_word_in_another_form_is_mentioned() -> None:
    """ "Screened" would be called absent from a paper that writes "screening"."""
    assert missing("Which tuberculosis case was screened?") == ()


def test_a_hyphenated_word_is_missing_as_a_whole_where_one_of_its_parts_is() -> None:
    """A reader asked about drug-resistant cases; that drugs are mentioned does not help."""
    assert missing("What share of the cases were Drug-resistant?") == ("drug-resistant",)
    assert missing("What share of the cases were drug-resistant?", context(SURVEY), context(FARM)) == ()


@pytest.mark.parametrize(
    "question",
    [
        "How did the cases climb afterwards?",
        "Why were there two fewer cases altogether?",
        "When were the cases cut off?",
        "What of her?",
    ],
)
def test_words_that_every_paper_replaces_by_others_are_never_missing(question: str) -> None:
    """A remark on each verb that a paper does not use would hide the remarks that matter."""
    assert missing(question) == ()


def test_only_the_papers_that_are_quoted_count() -> None:
    """That another paper has the word says nothing about the one that is quoted."""
    answerer = ExtractiveAnswerer(Readers(WordReader()), ExtractiveSettings(min_relevance=0.4), min_sources=1)

    draft = answerer.draft("What share of the tuberculosis cases were resistant?", [context(SURVEY), context(FARM)])

    assert [claim.citations[0].chunk_id for claim in draft.claims] == [SURVEY.chunk_id]
    assert draft.missing_words == ("resistant",)


TWIN = chunk("twin", "Of all tuberculosis cases in the province none were resistant, and few were miners.")
CASES = "Of all tuberculosis cases in the province 12% were found by screening."


def read_answer(question: str, score: float) -> DraftAnswer:
    """The draft where the sentence on cases is read with that score, and no other answers."""
    readers = Readers(WordReader(), Says({CASES: score}, others=-6.0))
    answerer = ExtractiveAnswerer(readers, ExtractiveSettings(), min_sources=1)
    return answerer.draft(question, [context(SURVEY), context(TWIN)])


def test_a_sentence_that_is_hardly_sure_is_no_answer_where_two_words_are_missing() -> None:
    """The answer of a paper on something else would come above the remark that it has these words nowhere."""
    refused = read_answer("Which share of the tuberculosis cases in the province were resistant miners?", -1.0)

    assert refused.claims == ()
    assert [claim.text for claim in refused.nearest] == [CASES]


def test_a_part_that_lacks_two_words_stays_open_beside_one_that_is_answered() -> None:
    """What is published for the other part comes near it."""
    answered = read_answer(
        "Which share of the tuberculosis cases were found, and which share of the cases were resistant miners?", 2.0
    )

    assert [claim.text for claim in answered.claims] == [CASES]
    assert answered.unanswered == ("which share of the cases were resistant miners?",)


@pytest.mark.parametrize(
    ("question", "score"),
    [
        ("Which share of the tuberculosis cases in the province were resistant?", -1.0),
        ("Which share of the tuberculosis cases in the province were resistant miners?", 9.0),
    ],
)
def test_one_missing_word_or_a_sure_sentence_is_an_answer(question: str, score: float) -> None:
    """Readers use a word of their own; what is said of it is said beside the answer."""
    answered = read_answer(question, score)

    assert [claim.text for claim in answered.claims] == [CASES]
    assert "resistant" in answered.missing_words


class Quoting:
    """Quotes every context, and says of two words that the contexts lack them."""

    identity = "quoting"

    def read(self, one: Context) -> Context:
        return one.words()

    def draft(self, _question: str, contexts: Sequence[Context]) -> DraftAnswer:
        claims = tuple(DraftClaim(one.text, (DraftCitation(one.chunk_id, one.text),)) for one in contexts)
        return DraftAnswer(claims, missing_words=("melatonin", "zinc"))


def lacking_all_but(*held: tuple[str, str]) -> Evidence:
    """Evidence of a corpus in which a paper holds a word only where it is among `held`: word and paper."""

    def lacking(words: Sequence[str], paper_ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(word for word in words if not any((word, paper) in held for paper in paper_ids))

    return replace(evidence(SURVEY), lacking=lacking)


def pipeline(folder: Path) -> AnswerPipeline:
    cache = kept_drafts(KeptFile(folder / "kept.sqlite3"))
    return AnswerPipeline(Quoting(), EmbeddedSupport(WordEncoder()), cache, AnsweringSettings(min_sources=1))


def traced(folder: Path, found: Evidence, question: str = "Does zinc help?") -> AnswerTrace:
    *_, last = pipeline(folder).answer(Question(id="q", question=question), lambda _question, _k: found)
    assert isinstance(last, Finished)
    return last.trace


def test_a_word_is_said_to_be_missing_only_where_the_whole_paper_lacks_it(tmp_path: Path) -> None:
    """The answerer reads a few passages: what it misses may stand on the next page, and the answer would be false."""
    result = traced(tmp_path, lacking_all_but(("zinc", "survey"), ("melatonin", "farm"))).result

    assert result.missing_words == ("melatonin",)
    assert result.answer.endswith('No passage of the papers quoted has the word "melatonin".')


def test_a_cached_draft_is_looked_up_anew(tmp_path: Path) -> None:
    """A paper that was edited may have the word now, though the contexts are the same."""
    before = traced(tmp_path, lacking_all_but()).result
    after = traced(tmp_path, lacking_all_but(("zinc", "survey"))).result

    assert before.missing_words == ("melatonin", "zinc")
    assert before.answer.endswith('No passage of the papers quoted has the word "melatonin" or "zinc".')
    assert after.missing_words == ("melatonin",)


def test_without_an_index_of_words_and_in_a_refusal_nothing_is_said_to_be_missing(tmp_path: Path) -> None:
    """What was not looked up is not known, and a refusal quotes no paper."""
    refused = replace(lacking_all_but(), contexts=(), chunks={})

    assert traced(tmp_path / "a", evidence(SURVEY)).result.missing_words == ()
    assert traced(tmp_path / "b", refused).result.missing_words == ()


def test_a_thorough_answer_says_only_what_holds_of_all_papers_it_quotes(tmp_path: Path) -> None:
    """The paper that another part quotes may have the word that this part misses."""
    of_survey = traced(tmp_path / "a", lacking_all_but(), "Does zinc help?")
    of_farm = traced(
        tmp_path / "b",
        replace(lacking_all_but(("zinc", "farm")), contexts=(context(FARM),), chunks={FARM.chunk_id: FARM}),
    )
    whole = Question(id="q", question="Does zinc help, and where?")

    def said(*traces: AnswerTrace) -> tuple[str, ...]:
        parts = [Part(f"part {number}") for number, _ in enumerate(traces)]
        asked = [AskedPart(part, trace, [trace]) for part, trace in zip(parts, traces, strict=True)]
        return united(whole, parts, asked, (), pipeline(tmp_path)).result.missing_words

    assert said(of_survey, of_farm) == ()
    assert said(of_survey) == ("melatonin", "zinc")
