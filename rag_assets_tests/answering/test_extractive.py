"""Which sentences the embedded answerer picks."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.core.domain import Chunk, Context, ContextUnit, StatementKind
from rag_assets_tests.answering.builders import chunk, context, drafted, texts_of

FUSION = chunk(
    "fusion",
    "Reciprocal rank fusion adds reciprocal ranks of several lists. The constant k of reciprocal rank fusion is 60 in "
    "the first paper. Many other methods of combining ranked lists have been tried by others since then.",
)
METRICS = chunk(
    "metrics",
    "The authors of reciprocal rank fusion chose a constant k of 60. Recall grows with depth in every collection "
    "that was ever built. Precision falls with depth in nearly all of them.",
)
GEOLOGY = chunk(
    "geology",
    "Basalt forms when lava cools quickly at the surface of the earth. Granite cools slowly.",
)
QUESTION = "What is the constant k of reciprocal rank fusion?"


def draft_of(*sources: Chunk | Context, question: str = QUESTION, **changes: float) -> DraftAnswer:
    """What is answered from these, if two papers are asked for. changes: of the settings."""
    contexts = [one if isinstance(one, Context) else context(one) for one in sources]
    return drafted(question, *contexts, min_sources=2, **changes)


def test_the_best_sentence_of_each_of_two_papers_is_quoted() -> None:
    """Two papers that say the same are worth more than one that says it twice."""
    draft = draft_of(FUSION, METRICS, GEOLOGY, max_claims=2)

    first, second = (claim.text for claim in draft.claims)
    assert "The constant k of reciprocal rank fusion is 60 in the first paper." in first
    assert second == "The authors of reciprocal rank fusion chose a constant k of 60."
    assert [claim.citations[0].chunk_id for claim in draft.claims] == [
        FUSION.chunk_id,
        METRICS.chunk_id,
    ]


@pytest.mark.parametrize("mark", ["²", "¹,³⁻⁵", "[3]"])
def test_a_sentence_is_whole_with_the_numbers_of_references_behind_it(mark: str) -> None:
    """Medical papers end most sentences with them; PDFs and their exports have them raised. None of
    these answered."""
    said = f"The constant k of reciprocal rank fusion is 60 in the first paper.{mark}"

    draft = draft_of(chunk("fusion", f"{said} Lists of news were fused by others."))

    assert texts_of(draft) == [said]


def test_a_question_the_contexts_say_nothing_about_gets_no_claims() -> None:
    """An answer at any price is worse than a refusal."""
    for question in (
        "Which dose of metformin helps adults?",
        "Why do whales sing at night in warm water?",
    ):
        draft = draft_of(FUSION, METRICS, question=question)

        assert draft.claims == ()
        assert draft.unanswered == (), "the refusal says it of the whole question"


def test_headings_captions_and_generated_texts_are_not_quoted() -> None:
    """They name what is said elsewhere, and a model's description is not the authors' word."""
    heading = chunk("heading", "The constant k of reciprocal rank fusion")
    described = replace(context(FUSION), is_generated=True)
    caption = "Table 1 shows the constant k of reciprocal rank fusion."
    unit = ContextUnit(0, len(caption), StatementKind.CAPTION, 0)
    captioned = replace(context(chunk("table", f"{caption}\nA | 60")), units=(unit,))

    draft = draft_of(heading, described, captioned)

    assert draft.claims == ()


def test_each_part_of_a_compound_question_is_answered() -> None:
    """A sentence about one half looks irrelevant to the whole."""
    question = "What is the constant k of reciprocal rank fusion, and when does basalt form?"

    draft = draft_of(FUSION, GEOLOGY, question=question)

    assert {claim.citations[0].chunk_id for claim in draft.claims} == {
        FUSION.chunk_id,
        GEOLOGY.chunk_id,
    }


def test_a_part_nobody_answers_is_named() -> None:
    """Half an answer that looks whole misleads more than a refusal."""
    question = (
        "What is the constant k of reciprocal rank fusion, and what dose of metformin helps adults?"
    )

    draft = draft_of(FUSION, METRICS, question=question)

    assert draft.claims
    assert draft.unanswered == ("what dose of metformin helps adults?",)
    assert draft_of(FUSION, METRICS).unanswered == ()


def test_a_sentence_that_stands_alone_is_preferred_to_one_that_points_back() -> None:
    """Nobody can tell what "it" is in a quote."""
    leaning = chunk(
        "leaning", "Its constant k of reciprocal rank fusion is sixty in practice for them."
    )
    standing = chunk(
        "standing", "One constant k of reciprocal rank fusion is sixty in practice for them."
    )

    draft = draft_of(leaning, standing, max_claims=1)

    assert draft.claims[0].citations[0].chunk_id == standing.chunk_id


def test_questions_of_the_authors_are_not_answers() -> None:
    """They repeat the words of the question and say nothing."""
    asking = chunk("asking", "What is the constant k of reciprocal rank fusion?")

    assert draft_of(asking).claims == ()


def test_a_part_answered_in_a_paragraph_that_is_quoted_is_answered_with_it() -> None:
    """ "No sentence was found" beside the paragraph that has the sentence sends a reader away from
    it."""
    pooling = chunk(
        "metrics",
        "The recall of the 16 pooled systems is overestimated by the authors. "
        "In pooling, the documents of many systems are merged into one pool.",
    )

    question = (
        "What recall of the pooled systems is overestimated by the authors, "
        "and how are documents merged by pooling?"
    )

    draft = draft_of(pooling, question=question)

    assert texts_of(draft) == [pooling.text]
    assert draft.unanswered == ()


CHINESE = "What is the constant k of reciprocal rank fusion in Chinese collections?"


def test_a_question_about_something_that_no_passage_names_is_refused_and_says_the_name() -> None:
    """A sentence on other collections would pass for an answer about Chinese ones."""
    draft = draft_of(FUSION, METRICS, question=CHINESE)

    assert draft.claims == ()
    assert draft.missing_names == ("Chinese",)


def test_only_the_part_with_the_missing_name_is_refused() -> None:
    """The other half of the question has an answer."""
    question = (
        "What is the constant k of reciprocal rank fusion, and when did Chinese collections use it?"
    )

    draft = draft_of(FUSION, METRICS, question=question)

    assert draft.claims
    assert draft.unanswered == ("when did Chinese collections use it?",)
    assert draft.missing_names == ("Chinese",)


def test_a_sentence_that_points_back_is_published_with_the_one_before_it() -> None:
    """ "It is 60 in the first paper" says nothing to a reader who does not see what it is."""
    text = "Reciprocal rank fusion has one constant k. It is 60 in the first paper on reciprocal rank fusion."

    draft = draft_of(chunk("fusion", text), max_claims=1)

    [claim] = draft.claims
    assert claim.text == claim.citations[0].quote == text


def test_a_sentence_that_leads_up_to_the_next_one_is_published_with_it() -> None:
    """ "The constant has an easy explanation" is the best match and no answer."""
    text = "The constant k of reciprocal rank fusion is easy to explain. Large values flatten the first ranks."

    draft = draft_of(chunk("fusion", text), max_claims=1)

    assert texts_of(draft) == [text]


def test_the_same_words_with_other_figures_of_another_paper_are_no_repetition() -> None:
    """Of two papers that contradict each other, only one would be heard."""
    said = "The constant k of reciprocal rank fusion was {} in experiments with lists of news articles."
    first, same, other = (
        chunk(name, said.format(k)) for name, k in (("a", 60), ("b", 60), ("c", 100))
    )
    again = chunk("a", said.format(10))

    draft = draft_of(first, same, other, again)

    assert texts_of(draft) == [said.format(60), said.format(100)]


def test_of_two_like_sentences_the_one_that_the_search_found_first_is_chosen() -> None:
    """What surrounds a sentence tells which of two papers the question is about."""
    like = [chunk(f"p{k}", f"The constant k of reciprocal rank fusion is {k}.") for k in (60, 61)]

    chosen = [draft_of(*order, max_claims=1).claims[0].text[-3:] for order in (like, like[::-1])]

    assert chosen == ["60.", "61."]


def test_sentences_that_follow_each_other_are_one_claim() -> None:
    """Apart and in another order, the second would explain what the first has not yet named."""
    text = (
        "Reciprocal rank fusion has a constant k that its authors set to 60 by hand. The constant k of reciprocal rank "
        "fusion is 60 in the first paper. Nothing is known of 7 other groups."
    )

    draft = draft_of(chunk("fusion", text))

    [claim] = draft.claims
    assert claim.text == claim.citations[0].quote == text.partition(" Nothing")[0]


APART = "Some lists of the news were merged by hand, which is told at length elsewhere by others."
"""A sentence between two claims, so that they stay two."""


def test_a_paper_answers_a_question_with_two_claims_at_most() -> None:
    """The third seldom answers: the reader has to search the answer among sentences on the same
    subject."""
    sets = [
        f"The constant k of reciprocal rank fusion is {k} in group {k}." for k in (60, 61, 62, 63)
    ]

    draft = draft_of(chunk("fusion", f" {APART} ".join(sets)))

    assert texts_of(draft) == sets[:2]


@pytest.mark.parametrize("mark", ["- ", "2. ", "3) ", "(i) ", "Many lists need care. (b) ", "• "])
def test_an_item_of_a_list_is_published_without_its_mark(mark: str) -> None:
    """Manuals, slides and posters say most of what they say in lists."""
    said = "Set the constant k of reciprocal rank fusion to 60 before the lists are merged."
    text = f"- Open the settings of the lists first.\n{mark}{said}\n4. Close the settings of the lists at the end."

    draft = draft_of(chunk("manual", text))

    assert draft.claims[0].text == said


def test_a_list_answers_with_the_sentence_that_leads_up_to_it() -> None:
    """Its items end in commas and begin in small letters: alone, none is a statement, and the
    question is refused."""
    lead_in = "The constant k of reciprocal rank fusion is 60 for three reasons:"
    items = "- lists are short,\n- ties are rare, and\n- ranks differ by 7 places."
    text = f"{lead_in}\n\n{items}"
    ends = [
        len(lead_in),
        *(at for at, sign in enumerate(f"{text}\n") if sign == "\n" and at > len(lead_in) + 2),
    ]
    starts = [0, len(lead_in) + 2, *(end + 1 for end in ends[1:-1])]
    kinds = [StatementKind.SENTENCE, *[StatementKind.ITEM] * 3]
    units = tuple(
        ContextUnit(*unit, int(unit[0] > 0)) for unit in zip(starts, ends, kinds, strict=True)
    )

    (claim,) = draft_of(replace(context(chunk("list", text)), units=units)).claims

    assert claim.text == text


def test_an_item_of_a_list_that_was_cut_is_no_answer() -> None:
    """A page ends within it, and what it says of the matter stands on the next one."""
    cut = "The constant k of reciprocal rank fusion was set to its value in a study of lists on"
    units = (ContextUnit(0, len(cut) + 2, StatementKind.ITEM, 0),)

    assert draft_of(replace(context(chunk("cut", f"- {cut}")), units=units)).claims == ()
    whole = cut.removesuffix(" on")
    (claim,) = draft_of(replace(context(chunk("cut", f"- {whole}")), units=units)).claims
    assert claim.text == whole


SAID = "The constant k of reciprocal rank fusion is 60 in the first paper."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Many lists were merged by hand for years. 3, 4-6 {SAID} 17", SAID),
        (f"Abstract: {SAID}", SAID),
        ("60 Groups had the constant k of reciprocal rank fusion.", None),
    ],
    ids=["references and page number", "label of an abstract", "its own number"],
)
def test_what_stands_around_a_sentence_is_not_published(text: str, said: str | None) -> None:
    """It belongs to the sentence before or to the page, and reads as figures of the finding."""
    draft = draft_of(chunk("fusion", text))

    assert texts_of(draft) == [said or text]


def test_a_sentence_that_may_be_two_is_not_quoted() -> None:
    """Two columns that ran into one stood as word for word in the paper."""
    text = "Live colonies in percent ¦ The constant k of reciprocal rank fusion is 60 in it."

    assert draft_of(chunk("fusion", text)).claims == ()
    assert texts_of(draft_of(chunk("fusion", text.replace(" ¦ ", " and "))))


def test_the_number_of_a_footnote_is_no_word_of_it() -> None:
    """ "1 If all participants said" reads as one participant."""
    of = context(chunk("fusion", f"1 {SAID}"))
    noted = replace(of, units=(ContextUnit(0, len(SAID) + 2, StatementKind.NOTE, 0),))

    assert texts_of(draft_of(noted)) == [SAID]


@pytest.mark.parametrize("kind", [StatementKind.ROW, StatementKind.CAPTION])
def test_a_note_below_a_table_or_a_figure_is_not_quoted(kind: StatementKind) -> None:
    """A legend explains signs: "k: the constant of reciprocal rank fusion" is no finding."""
    above, note = "Method: A | k: 60", "Note that k is the constant k of reciprocal rank fusion."
    of = context(chunk("table", f"{above}\n{note}"))
    at = len(above) + 1
    units = (
        ContextUnit(0, len(above), kind, 0),
        ContextUnit(at, at + len(note), StatementKind.NOTE, 1),
    )

    draft = draft_of(replace(of, units=units))

    assert note not in texts_of(draft)


def test_an_item_of_a_list_needs_no_full_stop() -> None:
    """Items are often written without one; a line that is no item is a heading then."""
    said = "the constant k of reciprocal rank fusion is 60 for all lists"
    text = f"- {said.capitalize()}\n- Nothing is known of others"
    units = tuple(
        ContextUnit(*span, StatementKind.ITEM, 0)
        for span in ((0, len(said) + 2), (len(said) + 3, len(text)))
    )
    plain = context(chunk("list", text))

    assert [it.text for it in draft_of(replace(plain, units=units)).claims] == [said.capitalize()]
    assert draft_of(plain).claims == ()


def test_an_answer_of_nothing_but_a_claim_of_others_says_so() -> None:
    """A myth stood under the question as its answer, word for word and without a remark."""
    myth = "According to Lund (1998), moles die of garlic within a week."

    asked = [
        draft_of(chunk("moles", myth), question=question)
        for question in ("Do moles die of garlic?", "Who claims that moles die of garlic?")
    ]

    assert [texts_of(draft) for draft in asked] == [[myth], [myth]]
    assert [draft.unanswered for draft in asked] == [
        ("What was found is of a hypothesis, a plan or a claim of others, not of a finding.",),
        (),
    ]
