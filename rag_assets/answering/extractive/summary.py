"""Summarises one paper by a sentence each on what was asked, done and found, and what limits it.

The sentences are those of the paper, told by common wordings ("We examined", "were recruited", "The results show",
"limitation") and by their section. They are chosen among what was found: a paper that was found in parts is summarised
by these.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import Candidate, sentences
from rag_assets.answering.extractive.words import terms_of
from rag_assets.domain import Context, SectionKind
from rag_assets.text.section_names import section_kinds

_ABOUT_SUMMARIES = terms_of(
    "summarise summarize summary overview gist paper study article about find findings main points"
)
_CUE, _SECTION, _TOPIC, _FIGURE = 1.0, 0.5, 0.5, 0.5
"""What a wording, a section, the words of the question and, of what was found, a figure count for."""
_HAS_FIGURE = re.compile(
    r"\d[\d.,]* ?(?:%|percent\b|per cent\b|-fold\b|times\b)|\b\d+\.\d|(?<![\d-])(?!(?:19|20)\d\d\b)\d{2,}\b"
)
"""Holds a percentage, a decimal or a number that is no year."""
_OF_OTHERS = re.compile(r"\bet al\b|\([^()]{0,80}\b(?:19|20)\d\d[a-z]?\)")
_OTHERS_DISCOUNT = 0.5
"""Of a sentence that cites: it says what others found."""
_ABSTRACT_LABEL = re.compile(r"\W*(?:abstract|summary)\b", re.IGNORECASE)
_LEANS_BACK = re.compile(r"^(?:these|those|they|it|this|such|however|moreover|thus|therefore)\b", re.IGNORECASE)
_LEANING_DISCOUNT = 0.3
_N_DECIMALS = 4


@dataclass(frozen=True)
class _Role:
    """One thing a summary says."""

    open_part: str
    """How the answer names it where no sentence says it."""
    cue: re.Pattern[str]
    sections: frozenset[SectionKind]


def _role(open_part: str, cue: str, *sections: SectionKind) -> _Role:
    return _Role(open_part, re.compile(cue, re.IGNORECASE), frozenset(sections))


_FOUND = "what was found"
_ROLES = (
    _role(
        "what was asked",
        r"\bwe (?:aim(?:ed)?|sought|ask(?:ed)?|examin|investigat|test(?:ed)?\b|explor|present\b|propose|introduce)"
        r"|\b(?:aims?|goals?|purpose|objectives?) (?:of|was|were|is)\b|\bin this (?:paper|study|article|work), we\b"
        r"|\b(?:this|our|the present|the current) (?:study|research|article|paper|review) "
        r"(?:examin|investigat|test|assess|address|explor|aim|present|introduc|was designed)",
        SectionKind.ABSTRACT,
        SectionKind.INTRODUCTION,
    ),
    _role(
        "what was done",
        r"\b(?:were|was) (?:recruited|randomi[sz]ed|enrolled|collected|measured|annotated|included|searched|assessed)\b"
        r"|\bwe (?:measured|recruited|collected|used|conducted|analy[sz]ed|trained|annotated|compared|searched|"
        r"included|obtained|enrolled|studied|surveyed|estimated|did|relied)\b"
        r"|\b\d[\d,]* (?:\w+ ){0,3}(?:participants|subjects|patients|infants|children|adults|pages|studies|trials)\b",
        SectionKind.ABSTRACT,
        SectionKind.METHODS,
    ),
    _role(
        _FOUND,
        r"\bwe (?:find|found|show(?:ed)?|observed?|demonstrated?|conclude|estimated?)\b|\bresulted in\b"
        r"|\b(?:results?|findings|analyses|evidence) (?:\w+ )?(?:show|indicate|suggest|reveal|demonstrate|support)"
        r"|\b(?:decreased|increased|reduced|outperform\w*|predict(?:s|ed)|improve[sd]?|associated with|significant)\b",
        SectionKind.ABSTRACT,
        SectionKind.RESULTS,
        SectionKind.CONCLUSION,
    ),
    _role(
        "what limits it",
        r"\blimitations?\b|\blimited (?:by|to)\b|\b(?:future|further) (?:research|studies|work)\b|\bcaution\b"
        r"|\bcannot (?:rule out|determine|conclude)\b|\bgenerali[sz]\w* to\b|\bremains? (?:unclear|unknown)\b",
        SectionKind.DISCUSSION,
        SectionKind.CONCLUSION,
    ),
)


def summary(question: str, contexts: Sequence[Context]) -> DraftAnswer:
    """A sentence for each role out of the paper that the question names; the roles without one are unanswered.

    Without a claim where nothing that was found holds a word of the question.
    """
    wanted = terms_of(question) - _ABOUT_SUMMARIES
    paper_id = _paper(wanted, contexts)
    candidates = [one for one in sentences(contexts, question) if one.paper_id == paper_id]
    claims: list[DraftClaim] = []
    open_parts: list[str] = []
    for role in _ROLES:
        said = {claim.text for claim in claims}
        scored = [
            (score, -at, one)
            for at, one in enumerate(candidates)
            if one.text not in said and (score := _score(role, one, contexts[one.context], wanted)) > 0
        ]
        if not scored:
            open_parts.append(role.open_part)
            continue
        score, _, best = max(scored, key=lambda item: item[:2])
        relevance = round(min(1.0, score / (_CUE + _SECTION + _TOPIC)), _N_DECIMALS)
        claims.append(DraftClaim(best.text, (DraftCitation(best.chunk_id, best.text),), relevance=relevance))
    return DraftAnswer(tuple(claims), tuple(open_parts) if claims else ())


def _paper(wanted: Set[str], contexts: Sequence[Context]) -> str | None:
    """The paper whose contexts hold most of the question's words; of equal ones, that of the best context. None where
    the question names something and no paper holds any of it."""
    texts: dict[str, list[str]] = {}
    for context in contexts:
        name = context.paper_id.replace("_", " ")
        texts.setdefault(context.paper_id, [name]).extend((context.section_title, context.text))
    held = {paper_id: len(wanted & terms_of(" ".join(of_paper))) for paper_id, of_paper in texts.items()}
    best = max(held, key=lambda paper_id: held[paper_id], default=None)
    return None if best is None or (wanted and not held[best]) else best


def _score(role: _Role, one: Candidate, context: Context, wanted: Set[str]) -> float:
    """0 for a sentence whose wording does not say what the role asks for."""
    if role.cue.search(one.text) is None:
        return 0.0
    is_abstract = SectionKind.ABSTRACT in role.sections and _ABSTRACT_LABEL.match(one.passage.text) is not None
    is_in_section = is_abstract or not role.sections.isdisjoint(section_kinds([context.section_title]))
    topic = len(wanted & one.terms) / len(wanted) if wanted else 0.0
    leaning = _LEANING_DISCOUNT if _LEANS_BACK.match(one.text) else 0.0
    figure = _FIGURE if role.open_part == _FOUND and _HAS_FIGURE.search(one.text) else 0.0
    others = _OTHERS_DISCOUNT if _OF_OTHERS.search(one.text) else 0.0
    return _CUE + _SECTION * is_in_section + _TOPIC * topic + figure - leaning - others
