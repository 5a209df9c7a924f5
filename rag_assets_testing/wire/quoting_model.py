"""A scripted model that does what the prompt asks of an honest one: it quotes the sources it is
given.

It knows the prompt by what a model sees of it: numbered, fenced sources and a question.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.core.text.sentences import sentence_spans
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.steps import Reply

_SOURCE = re.compile(
    r"^Source (\d+) \(([^\n]*)\)\n<<<(\w+)\n(.*?)\n\3>>>$", re.DOTALL | re.MULTILINE
)
_TAG = re.compile(r"</?AI_GENERATED>\n?")
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

    @classmethod
    def of(cls, request: WireRequest) -> "Prompt":
        found = {int(match[1]): match for match in _SOURCE.finditer(request.prompt)}
        return cls(
            question=request.prompt.rpartition("Question: ")[2]
            .partition("\n\nStatements to mend:")[0]
            .strip(),
            sources={number: _TAG.sub("", match[4]) for number, match in found.items()},
            papers={
                number: match[2].split(";")[0].removeprefix("paper ")
                for number, match in found.items()
            },
        )


def quoting_model(request: WireRequest) -> Reply:
    """The sentence of each of the best two papers that shares most words with the question, or the
    refusal."""
    prompt = Prompt.of(request)
    wanted = set(_WORD.findall(prompt.question.lower()))
    best: dict[str, tuple[float, int, str]] = {}
    for number, text in prompt.sources.items():
        for sentence in _sentences(text):
            share = len(wanted & set(_WORD.findall(sentence.lower()))) / max(len(wanted), 1)
            best[prompt.papers[number]] = max(
                best.get(prompt.papers[number], (0.0, 0, "")), (share, number, sentence)
            )
    chosen = [
        found for found in sorted(best.values(), reverse=True)[:_N_CLAIMS] if found[0] >= _ENOUGH
    ]
    return reply([(sentence, [(number, sentence)]) for _, number, sentence in chosen])


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for start, end in sentence_spans(line):
            yield line[start:end]


def reply(
    claims: Sequence[tuple[str, Sequence[tuple[int, str]]]], missing: Sequence[str] = ()
) -> Reply:
    """A reply as it is asked for, from claims and their (source, quote); a refusal where there are
    none."""
    body = {
        "claims": [
            {
                "text": text,
                "citations": [{"source": source, "quote": quote} for source, quote in citations],
            }
            for text, citations in claims
        ],
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
