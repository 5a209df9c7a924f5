"""What a model is asked, and what is made of its reply before anything in it is believed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rag_assets.answering.drafts import SINGLE_SOURCE_NOTE, DraftAnswer, Reading
from rag_assets.answering.model.answerer import (
    MAX_CITATIONS,
    MAX_CLAIMS,
    HostedAnswerer,
)
from rag_assets.answering.wording import not_found_notes
from rag_assets.core.errors import AccessDenied, RequestRejected, UnreadableReply
from rag_assets.core.settings import AnsweringSettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.prompts import load_prompt
from rag_assets_testing.wire import (
    BadKey,
    ProviderRefusal,
    Reply,
    Status,
    Step,
    WireServer,
    use_wire_environment,
)
from rag_assets_testing.wire import (
    ContextTooLong as LongPrompt,
)
from rag_assets_testing.wire.quoting_model import Prompt, reply
from rag_assets_tests.answering.builders import chunk, context
from rag_assets_tests.hosted.models import HURRIED

QUESTION = "How much did ferritin fall?"
CHUNKS = [
    chunk(f"paper{number}", f"In trial {number} ferritin fell by 1{number}% in a month.")
    for number in range(8)
]
CONTEXTS = [context(item) for item in CHUNKS]
MODEL = ModelName("openai", "gpt-5-mini")


@contextmanager
def answerer(
    monkeypatch: pytest.MonkeyPatch, *steps: Step
) -> Iterator[tuple[HostedAnswerer, WireServer]]:
    with WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_with(*steps)
        with Connections(HURRIED) as connections:
            yield HostedAnswerer(MODEL, connections, AnsweringSettings()), server


def draft_of(monkeypatch: pytest.MonkeyPatch, *steps: Step, n_contexts: int = 2) -> DraftAnswer:
    with answerer(monkeypatch, *steps) as (model, _):
        return model.draft(QUESTION, CONTEXTS[:n_contexts])


def test_source_numbers_become_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model knows numbers, a citation needs the chunk."""
    draft = draft_of(
        monkeypatch,
        reply([("It fell.", [(2, "ferritin fell by 11%"), (1, "ferritin fell by 10%")])]),
    )

    [claim] = draft.claims
    assert [citation.chunk_id for citation in claim.citations] == [
        CHUNKS[1].chunk_id,
        CHUNKS[0].chunk_id,
    ]
    assert (draft.reading, draft.n_hallucinated, draft.raw_reply) == (Reading.STRUCTURED, 0, "")
    assert draft.seconds > 0


@pytest.mark.parametrize("number", [0, 3, -1, 10**12])
def test_a_source_that_was_not_given_is_dropped_and_counted(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The most frequent invention of all."""
    draft = draft_of(monkeypatch, reply([("It fell.", [(number, "ferritin fell by 10%")])]))

    assert [claim.citations for claim in draft.claims] == [()]
    assert draft.n_hallucinated == 1


def test_the_prompt_shows_numbered_sources_and_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not in the prompt cannot be asked of a reply."""
    with answerer(monkeypatch, reply([])) as (model, server):
        model.draft(QUESTION, CONTEXTS[:2])

    [request] = server.requests
    seen = Prompt.of(request)
    assert seen.question == QUESTION
    assert [CHUNKS[0].text in seen.sources[1], CHUNKS[1].text in seen.sources[2]] == [True, True]
    for rule in ("character for character", "no surer", "`missing` lists", "<AI_GENERATED>"):
        assert rule in request.system


def test_what_the_sources_do_not_say_is_told_in_words_of_the_question_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A gap that disappears looks like an answer, and a gap cannot be verified: a claim must not
    hide in it."""
    cited = [(1, "ferritin fell by 10%")]
    question = "How much did ferritin fall, and did iron rise in Oslo?"
    step = reply(
        [("Ferritin fell by 10%.", cited), ("[INSUFFICIENT DATA] iron rise.", cited)],
        missing=[
            "iron in Oslo",
            "All papers report that iron is safe",
            "Mallory sells pills",
            "iron in Oslo",
        ],
    )
    with answerer(monkeypatch, step) as (model, _):
        draft = model.draft(question, CONTEXTS[:2])

    assert [claim.text for claim in draft.claims] == ["Ferritin fell by 10%."]
    assert draft.missing == ("iron in Oslo", "did iron rise in Oslo?", "", "iron rise")
    assert not_found_notes(draft.missing[1:3], 2) == [
        "[INSUFFICIENT DATA] Not found in the 2 passages that were read: “did iron rise in Oslo?”",
        "[INSUFFICIENT DATA] A part of the question was not found in the 2 passages that were read.",
    ]


@pytest.mark.parametrize(
    ("fault", "error"), [(BadKey(), AccessDenied), (LongPrompt(), RequestRejected)]
)
def test_a_fault_that_kept_an_unreadable_reply_from_its_repair_is_no_refusal(
    fault: Step, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept as a refusal, a fault of one minute would be the answer for good."""
    with pytest.raises(error):
        draft_of(monkeypatch, Reply("Hm."), fault)


def test_a_claim_looks_like_nothing_but_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Square brackets are where an answer names paper and page, and our own sentences are ours to
    say."""
    cited = [(1, "ferritin fell by 10%")]

    draft = draft_of(
        monkeypatch, reply([("It fell [smith2020, p. 3].", cited), (SINGLE_SOURCE_NOTE, cited)])
    )

    assert [claim.text for claim in draft.claims] == ["It fell (smith2020, p. 3)."]


def test_repeated_and_countless_claims_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that runs in circles must not fill the answer, nor the evening."""
    same = [("It fell.", [(1, "ferritin fell by 10%")])] * 300
    many = [(f"It fell, number {n}.", [(1, "ferritin fell by 10%")] * 300) for n in range(300)]

    draft = draft_of(monkeypatch, reply([*same, *many]))

    assert len(draft.claims) == MAX_CLAIMS
    assert len({claim.text for claim in draft.claims}) == MAX_CLAIMS
    assert max(len(claim.citations) for claim in draft.claims) == MAX_CITATIONS


MALFORMED = {
    "fenced": '```json\n{"claims": [{"text": "It fell.", "citations": '
    '[{"source": 1, "quote": "ferritin fell by 10%"}]},]}\n```',
    "cut": '{"claims": [{"text": "It fell.", "citations": [{"source": 1, "quote": "ferritin fell by '
    '10%"}]}, {"text": "Then", "citations": [{"source": 1, "quo',
    "prose": "In one trial “ferritin fell by 10%” [1].",
}


@pytest.mark.parametrize("kind", list(MALFORMED))
def test_a_reply_that_stays_malformed_is_read_tolerantly(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was paid for, and most of it can be read; what the model wrote last is what it stands
    by."""
    first = "In one trial “ferritin fell by 11%” [2]."

    draft = draft_of(monkeypatch, Reply(first), Reply(MALFORMED[kind]))

    assert draft.reading is Reading.TOLERANT
    [claim] = draft.claims
    assert [(c.chunk_id, c.quote) for c in claim.citations] == [
        (CHUNKS[0].chunk_id, "ferritin fell by 10%")
    ]
    assert draft.raw_reply == f"{first}\n\n{MALFORMED[kind]}"


def test_a_reply_cut_by_the_output_limit_keeps_its_complete_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Asking again would meet the same limit."""
    draft = draft_of(monkeypatch, Reply(MALFORMED["cut"], finish="length"))

    assert draft.reading is Reading.TOLERANT
    assert [claim.text for claim in draft.claims] == ["It fell."]


SAYS_NOTHING: dict[str, Step] = {
    "empty": Reply(""),
    "blanks": Reply("  \n\t "),
    "empty object": Reply("{}"),
    "prose without marks": Reply("Ferritin fell by 10% in a month."),
    "no claims beside an answer": Reply(
        '{"answer": "Ferritin fell by 10% in a month.", "claims": []}'
    ),
    "cut off before the first claim": Reply(
        '{"claims": [{"text": "Ferritin fell", "cita', finish="length"
    ),
    "reasoning only": Reply("<think>Ferritin fell by 10%, says source 1.</think>"),
    "withheld": ProviderRefusal(),
    "marks and no claim": Reply("[1] [2]"),
}


@pytest.mark.parametrize("kind", list(SAYS_NOTHING))
def test_a_reply_that_says_nothing_is_no_refusal(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Published as a refusal, it would say of the papers what is true of the model only, and never
    be asked again."""
    with pytest.raises(UnreadableReply):
        draft_of(monkeypatch, *[SAYS_NOTHING[kind]] * 2)


def test_a_provider_that_declines_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not the corpus that had no answer."""
    with pytest.raises(UnreadableReply, match=r"withheld its reply \(a content filter\)"):
        draft_of(monkeypatch, ProviderRefusal())


def test_sources_that_are_too_long_are_halved_best_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer from the better half is better than none."""
    with answerer(
        monkeypatch,
        LongPrompt(),
        LongPrompt(),
        reply([("It fell.", [(1, "ferritin fell by 10%")])]),
    ) as (
        model,
        server,
    ):
        draft = model.draft(QUESTION, CONTEXTS)

    assert [len(Prompt.of(request).sources) for request in server.requests] == [8, 4, 2]
    assert draft.n_contexts_read == 2
    assert len(draft.claims) == 1


def test_without_contexts_no_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is known: there is nothing to answer from."""
    with answerer(monkeypatch) as (model, server):
        assert model.draft(QUESTION, []) == DraftAnswer()

    assert server.requests == []


def test_the_id_changes_with_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer to an older prompt must not pass for one to the new."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = HostedAnswerer(MODEL, Connections(HURRIED), AnsweringSettings())
    before = model.identity
    monkeypatch.setattr(
        "rag_assets.answering.model.answerer._INSTRUCTIONS",
        load_prompt("rag_assets.answering.model", "judge", frozenset()),
    )

    assert before.startswith("openai:gpt-5-mini prompt-")
    assert model.identity != before


def test_a_rejected_request_is_no_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal would be published, and never be asked again."""
    with pytest.raises(RequestRejected, match="openai rejects the request"):
        draft_of(monkeypatch, Status(400))
