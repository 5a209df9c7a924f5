"""A scripted model that does what the prompt asks of an honest one: it cites sentences of the
sources it is given.

It knows the prompt by what a model sees of it: fenced sources with ids in front of their sentences,
and a question.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.steps import Reply

_SOURCE = re.compile(
    r"^Source (\d+) \(([^\n]*)\)\n<<<(\w+)\n(.*?)\n\3>>>$", re.DOTALL | re.MULTILINE
)
_TAG = re.compile(r"</?AI_GENERATED>\n?")
_ID = re.compile(r"\[(\d+\.\d+)\] ")
_WORD = re.compile(r"\w{4,}")
_ENOUGH = 0.5
_N_CLAIMS = 2
_JUDGES = "You check whether places in papers carry statements."
_LEADS = "You write the paragraph that opens an answer"
_STATEMENT = re.compile(r"^Statement (\d+): (It is not true)?", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """What a model sees."""

    question: str
    sources: Mapping[int, str]
    papers: Mapping[int, str]
    sentences: Mapping[str, str]
    """What has an id, by id."""

    @classmethod
    def of(cls, request: WireRequest) -> "Prompt":
        found = {int(match[1]): match for match in _SOURCE.finditer(request.prompt)}
        texts = {number: _TAG.sub("", match[4]) for number, match in found.items()}
        pieces = [piece for text in texts.values() for piece in _ID.split(text)[1:]]
        return cls(
            question=request.prompt.rpartition("Question: ")[2]
            .partition("\n\nStatements to mend:")[0]
            .strip(),
            sources={number: _ID.sub("", text) for number, text in texts.items()},
            papers={
                number: match[2].split(";")[0].removeprefix("paper ")
                for number, match in found.items()
            },
            sentences=dict(zip(pieces[::2], map(str.strip, pieces[1::2]), strict=True)),
        )


def quoting_model(request: WireRequest) -> Reply:
    """The sentence of each of the best two papers that shares most words with the question, or the
    refusal."""
    prompt = Prompt.of(request)
    wanted = set(_WORD.findall(prompt.question.lower()))
    best: dict[str, tuple[float, str]] = {}
    for id_, sentence in prompt.sentences.items():
        share = len(wanted & set(_WORD.findall(sentence.lower()))) / max(len(wanted), 1)
        paper = prompt.papers[int(id_.partition(".")[0])]
        best[paper] = max(best.get(paper, (0.0, "")), (share, id_))
    chosen = [
        found for found in sorted(best.values(), reverse=True)[:_N_CLAIMS] if found[0] >= _ENOUGH
    ]
    return reply([(prompt.sentences[id_], [id_]) for _, id_ in chosen])


def reply(claims: Sequence[tuple[str, Sequence[str]]], missing: Sequence[str] = ()) -> Reply:
    """A reply as it is asked for, from claims and what they cite; a refusal where there are none."""
    body = {
        "claims": [{"text": text, "cites": list(cites)} for text, cites in claims],
        "missing": list(missing),
    }
    return Reply(json.dumps(body), n_input_tokens=1200, n_output_tokens=80)


def is_judging(request: WireRequest) -> bool:
    """Whether a model is asked to take the second look."""
    return _JUDGES in request.system


def is_leading(request: WireRequest) -> bool:
    """Whether a model is asked for the paragraph above an answer."""
    return _LEADS in request.system


def lead(*sentences: tuple[str, Sequence[int]]) -> Reply:
    """The paragraph above an answer: sentences, each with the numbers of its claims."""
    listed = [{"text": text, "claims": list(claims)} for text, claims in sentences]
    return Reply(json.dumps({"sentences": listed}))


def all_supported(request: WireRequest) -> Reply:
    """The verdicts of a judge that finds nothing wrong but denials."""
    found = _STATEMENT.findall(request.prompt)
    return verdicts(*((int(number), "not" if denied else "carried") for number, denied in found))


def verdicts(*given: tuple[int, str], wrong: str = "", corrected: str = "") -> Reply:
    """The reply of a judge, from statements and verdicts; `wrong` is told of those that are not
    carried, `corrected` of those that are in part."""
    listed = [
        {
            "statement": number,
            "verdict": verdict,
            "reason": "" if verdict == "carried" else wrong,
            "corrected": corrected if verdict == "partly" else "",
        }
        for number, verdict in given
    ]
    return Reply(json.dumps({"verdicts": listed}))
