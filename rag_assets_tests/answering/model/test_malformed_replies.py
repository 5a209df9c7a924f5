"""What is read of replies that do not keep to the schema, and what must not be."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.answering.drafts import REFUSAL
from rag_assets.answering.model.replies import NO_SOURCE, ModelReply, read_tolerantly
from rag_assets_tests.cpu_limit import ends_in_time

FELL, LOWER = "Ferritin fell in all groups", "Ferritin was lower, in every group, after weeks"
CITATIONS = {
    "Ferritin fell.": {"source": 1, "quote": FELL},
    "Others saw it too.": {"source": 2, "quote": LOWER},
}
REPLY = {
    "answer": "It fell.",
    "claims": [{"text": text, "citations": [citation]} for text, citation in CITATIONS.items()],
}
GOOD = json.dumps(REPLY)
WHOLE = [("Ferritin fell.", [(1, FELL)]), ("Others saw it too.", [(2, LOWER)])]


def read(text: str) -> list[tuple[str, list[tuple[int, str]]]]:
    """The claims in short."""
    reply = read_tolerantly(text)
    assert reply is not None, text
    return [
        (claim.text, [(item.source, item.quote) for item in claim.citations])
        for claim in reply.claims
    ]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{json.dumps(REPLY, indent=2)}\n```",
        f"Sure! Here is {{the}} answer for [1] and [2]:\n\n{GOOD}\n\nLet me know if you need more.",
        f'{{"answer": "draft", "claims": []}}\nOn reflection:\n{GOOD}',
        f'<think>Perhaps {{"answer": "no", "claims": []}}.</think>\n{GOOD}',
        GOOD.replace("}]}", "},]},"),
        GOOD[:-1],
        GOOD[:-2],
        GOOD.replace(', "claims"', '\n"claims"'),
        json.dumps({"name": "final_result", "arguments": REPLY}),
        json.dumps(REPLY["claims"]),
        "\n".join(json.dumps(claim) for claim in REPLY["claims"]),
        json.dumps({"claims": REPLY["claims"]}),
        GOOD.replace('"source": 1', '"source": "1"').replace('"source": 2', '"source": "[2]"'),
        GOOD.replace('"source": 1', '"source": "S1"').replace(
            '"source": 2', '"source": "Source 2"'
        ),
        GOOD.replace('"source"', '"source_id"').replace('"quote"', '"excerpt"'),
        GOOD.replace('"quote"', '"text"'),
        GOOD.replace('"claims"', '"Claims"').replace('"text"', '"claim"'),
        json.dumps(
            [{"text": text, "citations": None} | citation for text, citation in CITATIONS.items()]
        ),
        re.sub(r'\[\{"source": (\d), "quote": ("[^"]+")\}\]', r'[\1], "quote": \2', GOOD),
        re.sub(
            r'"citations": \[\{"source": (\d), "quote": ("[^"]+")\}\]',
            r'"source": \1, "quote": \2',
            GOOD,
        ),
        re.sub(r'\[\{"source": (\d), "quote": ("[^"]+")\}\]', r'{"source": \1, "quote": \2}', GOOD),
    ],
)
def test_a_reply_in_a_wrong_form_is_read_whole(text: str) -> None:
    """The question was paid for; form is no reason to lose the answer."""
    assert read(text) == WHOLE


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace('"}]}]}', '"}}]}'),
        GOOD.replace("lower, in", 'lower, "low", in'),
        GOOD.replace('": 2', '"= 2'),
    ],
)
def test_a_claim_that_no_rule_mends_takes_no_other_along(text: str) -> None:
    """What is whole is an answer."""
    assert read(text) == WHOLE[:1]


def test_a_list_of_sources_is_one_citation_each() -> None:
    """Each is verified by itself."""
    assert read(GOOD.replace('"source": 1', '"source": [1, 3]'))[0][1] == [(1, FELL), (3, FELL)]


def test_the_number_of_a_claim_is_no_source() -> None:
    """Models number their claims; a source made of that is a citation nobody gave."""
    assert read(GOOD.replace('{"text"', '{"id": 2, "text"').replace('"source": 1, ', ""))[0][1] == [
        (NO_SOURCE, FELL)
    ]


def test_a_claim_that_swallows_the_next_keeps_its_own_words() -> None:
    """Where a brace is missing, the words of the next claim must not stand over the quotes of this
    one."""
    swallowing = GOOD.replace('}]}, {"text"', '}], "text"')

    assert read(swallowing[: swallowing.rindex(', "citations"')] + "}]}") == WHOLE[:1]


@pytest.mark.parametrize("text", [GOOD, json.dumps(REPLY, indent=1), json.dumps(REPLY["claims"])])
def test_wherever_a_reply_is_cut_no_half_claim_survives(text: str) -> None:
    """Half a quote may say the opposite of the whole, and would still be found in its source."""
    for end in range(len(text)):
        reply = read_tolerantly(text[:end])

        claims = read(text[:end]) if reply else []
        assert claims == WHOLE[: len(claims)], text[:end]


def test_a_cut_answer_is_not_read_as_prose() -> None:
    """The braces and names of the schema would become part of a claim."""
    assert read_tolerantly(f'{{"answer": "{FELL} [1]. Also, ') is None


def test_what_was_only_thought_is_not_read() -> None:
    """A model may weigh an answer and reject it."""
    assert read_tolerantly(f"<think>{GOOD} No, that is wrong.</think> I do not know.") is None


def test_prose_with_markers_becomes_claims() -> None:
    """Small models forget the schema and keep the habit of citing."""
    text = (
        f"Here is what I found:\n\n1. {FELL} by 12% [1].\n2. Some say it “was so low” later. [Source 2]\n"
        "Nothing is known of zinc. Both agree on “iron pills” [1, 2]. And a cut one [2] that"
    )

    assert read(text) == [
        (f"{FELL} by 12%.", [(1, f"{FELL} by 12%.")]),
        ("Some say it “was so low” later.", [(2, "was so low")]),
        (
            "Both agree on “iron pills”.",
            [(1, "Both agree on “iron pills”."), (2, "Both agree on “iron pills”.")],
        ),
    ]


def test_an_answer_with_markers_and_no_claims_is_read_as_prose() -> None:
    """Half a schema is common."""
    assert read(json.dumps({"answer": f"{FELL} [1]. Nothing else."})) == [
        (f"{FELL}.", [(1, f"{FELL}.")])
    ]


@pytest.mark.parametrize(
    "text",
    [
        REFUSAL,
        f"  **{REFUSAL}**\n",
        f'"{REFUSAL[:-1]}"',
        json.dumps({"answer": REFUSAL}),
        GOOD.replace("It fell.", REFUSAL),
    ],
)
def test_the_refusal_sentence_is_a_reply_without_claims(text: str) -> None:
    """A refusal is an answer; asking again would cost and change nothing."""
    assert read_tolerantly(text) == ModelReply(answer=REFUSAL, claims=[])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "{}",
        "[]",
        "null",
        '{"error": "overloaded"}',
        "[1]",
        "<html>",
    ],
)
def test_what_is_no_reply_is_none(text: str) -> None:
    """The engine then refuses and keeps the raw text."""
    assert read_tolerantly(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        '{"' * 400_000,
        '{"a":' * 160_000,
        "[1," * 300_000,
        "{'a':" * 160_000,
        '{"a": "' + 'x" ' * 60_000,
        '{"a":"' + "\\" * 200_000,
        '{"a":"' + '"' + " " * 200_000,
        "[1] " * 50_000,
        "(s1 " * 50_000,
        "{/*" * 60_000,
        "“" * 200_000 + "[1].",
    ],
)
def test_hostile_text_costs_little_time(text: str) -> None:
    """A reply may have been steered; reading it must not stop the run."""
    with ends_in_time():
        read_tolerantly(text)


@given(st.data())
def test_a_mangled_reply_yields_only_quotes_that_stand_in_it(data: st.DataObject) -> None:
    """The reader may lose words, it must not make any."""
    text = data.draw(
        st.sampled_from([GOOD, f"{FELL} [1]. {LOWER} [2].", json.dumps(REPLY, indent=1)])
    )
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        until = data.draw(st.integers(at, min(len(text), at + 12)))
        text = text[:at] + data.draw(st.text(alphabet="{}[]\":,' x1\n“", max_size=4)) + text[until:]

    reply = read_tolerantly(text)

    quotes = [item.quote for claim in reply.claims for item in claim.citations] if reply else []
    assert all(_words(quote) in _words(text) for quote in quotes)


def _words(text: str) -> str:
    """Letters only: markers and white space may be gone from a sentence that became a quote."""
    return "".join(character for character in text if character.isalpha())
