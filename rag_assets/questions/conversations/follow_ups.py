"""Turns of a conversation, and two rules that read a follow-up question after them.

A follow-up about papers that an answer cites ("that paper", "the second study", "who wrote it") keeps its words and is
put to those papers alone. A follow-up with few words of its own ("Why?", "And for children?") is asked
together with the question before it, without the answer: a sentence that was just quoted would be found again first.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rag_assets.core.text.terms import terms_of

PAPERS = (
    "paper papers study studies article articles trial trials review reviews report reports publication publications "
    "preprint preprints survey surveys".split()
)
_PAPER = f"(?:{'|'.join(sorted(PAPERS, reverse=True))})"
_ONE_PAPER = f"(?:{'|'.join(sorted(word for word in PAPERS if not word.endswith('s')))})"
_NOT_DESCRIBED = r"(?!\s+(?:by|of|on|about|from|titled|called|named|that|which|who|where|published|in\s+\d)\b)"
"""What follows says which paper is meant, so it is not the one before."""
_ONE = re.compile(rf"\b(?:this|that|the|the same)\s+{_ONE_PAPER}\b{_NOT_DESCRIBED}", re.IGNORECASE)
_AUTHORS = re.compile(rf"\b(?:the|its|their)\s+authors\b{_NOT_DESCRIBED}", re.IGNORECASE)
_WRITTEN = re.compile(
    r"\b(?:wrote|published|authored)\s+(?:it|this|that|them|these|those)\b"
    r"|\b(?:was|were)\s+(?:it|this|that|they|these|those)\s+(?:written|published|authored)\b",
    re.IGNORECASE,
)
"""What was written or published is the last paper that was quoted."""
_SEVERAL = re.compile(rf"\b(?:these|those|both|the two|both of these)\s+{_PAPER}\b{_NOT_DESCRIBED}", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_NUMBERED = re.compile(
    rf"\bthe\s+({'|'.join(_ORDINALS)}|former|latter|last|other)\s+(?:one|{_PAPER})\b{_NOT_DESCRIBED}", re.IGNORECASE
)
_NOTHING_ELSE = re.compile(
    r"(?:(?:and|but|or|what|how)\b\W*)*(?:about\s+)?(?:(?:in|for|of|with|according to)\s+)?", re.IGNORECASE
)
MAX_OWN_WORDS = 2
"""Content words of a follow-up; one with more of them may be about something else, and is asked as it stands."""
_MAX_BEFORE_CHARS = 300
_PARTS_A_QUESTION = re.compile(r"[?,;:()]+")
"""Signs that would split the question into several."""
_REASON = "Asked together with the question before it, which stands in brackets."


@dataclass(frozen=True)
class Rewritten:
    """What is asked of the corpus on behalf of a question."""

    question: str
    """Can be understood without the conversation; the question itself where nothing was rewritten."""
    is_rewritten: bool
    """The question was changed, or restricted to papers."""
    reason: str = ""
    """Why, as a sentence for the user; empty where nothing was rewritten."""
    paper_ids: tuple[str, ...] = ()
    """Papers that the question means ("that paper"), to be searched alone; empty for no restriction."""

    @classmethod
    def as_it_stands(cls, question: str) -> "Rewritten":
        return cls(question, is_rewritten=False)


@dataclass(frozen=True)
class Turn:
    """A question and its answer."""

    question: str
    """The words of the user."""
    asked: Rewritten
    """What the corpus was asked."""
    answer: Mapping[str, Any]
    """The row of qa.jsonl, as JSON values."""
    contexts: Sequence[Mapping[str, Any]] = ()
    """What the answer was made from: chunk, place and band of each; empty in older turns."""
    dropped: Sequence[Mapping[str, Any]] = ()
    """Claims that failed verification: reason, message and count; empty in older turns."""
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When it was answered; ISO 8601 in UTC."""

    @property
    def cited_papers(self) -> tuple[str, ...]:
        """Distinct papers that the answer cites, in order of first citation."""
        return tuple(self.answer.get("sources_used") or ())

    @property
    def claims(self) -> tuple[str, ...]:
        """Texts of the answer's claims, in order."""
        return tuple(claim["text"] for claim in self.answer.get("claims") or ())


def about_papers(question: str, turns: Sequence[Turn]) -> Rewritten | None:
    """The question, restricted to the cited papers that it points at.

    One that says nothing else ("and in the other paper?") is the question before, put to that paper. None where it
    points at no paper, or one cannot tell at which.
    """
    for pattern, find in (
        (_SEVERAL, _all),
        (_NUMBERED, _numbered),
        (_ONE, _only),
        (_AUTHORS, _only),
        (_WRITTEN, _last),
    ):
        match = pattern.search(question)
        if match is None:
            continue
        papers = find(match, turns)
        if not papers:
            return Rewritten.as_it_stands(question)
        is_bare = _NOTHING_ELSE.fullmatch(question[: match.start()]) and not question[match.end() :].strip(" ?.!")
        text = turns[-1].asked.question if is_bare and pattern not in (_AUTHORS, _WRITTEN) else question
        reason = f'"{match.group()}" is read as {" and ".join(papers)}, cited by the answer before.'
        return Rewritten(text, is_rewritten=True, reason=reason, paper_ids=papers)
    return None


def _only(_match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    cited = turns[-1].cited_papers
    return cited if len(cited) == 1 else ()


def _last(_match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    """All that the last answer with a quote cites: "who wrote it?" after two papers asks for the authors of both."""
    return next((turn.cited_papers for turn in reversed(turns) if turn.cited_papers), ())


def _all(match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    cited = _pool(turns)
    says_two = match.group().lower().startswith(("both", "the two"))
    return cited if len(cited) == 2 or (len(cited) > 2 and not says_two) else ()


def _numbered(match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    which, cited = match.group(1).lower(), _pool(turns)
    if which == "other":
        rest = tuple(paper for paper in cited if paper not in turns[-1].asked.paper_ids)
        return rest if len(cited) == 2 and len(rest) == 1 else ()
    if which in ("former", "latter"):
        return (cited[0 if which == "former" else 1],) if len(cited) == 2 else ()
    if which == "last":
        return cited[-1:] if len(cited) > 1 else ()
    at = _ORDINALS.index(which)
    return cited[at : at + 1] if len(cited) > 1 else ()


def _pool(turns: Sequence[Turn]) -> tuple[str, ...]:
    """The papers that "the second study" counts: those of the last answer that was not put to some of them alone."""
    for turn in reversed(turns):
        if not turn.asked.paper_ids:
            return turn.cited_papers
    return ()


def with_the_question_before(question: str, before: Turn) -> Rewritten | None:
    """The follow-up with the question before it in brackets; None where it says enough by itself."""
    if len(terms_of(question)) > MAX_OWN_WORDS or not terms_of(before.asked.question):
        return None
    earlier = " ".join(_PARTS_A_QUESTION.sub(" ", before.asked.question[:_MAX_BEFORE_CHARS]).split())
    text = f"{question.strip().rstrip('?. ')}? ({earlier})"
    return Rewritten(text, is_rewritten=True, reason=_REASON, paper_ids=before.asked.paper_ids)
