"""Follow-ups with "it", "they" and the like: the pronoun becomes what the question before was about.

Only a pronoun that nothing in the follow-up itself can stand for is resolved, and only where the question before holds
one phrase that it can stand for.
"""

import re

from rag_assets.conversations import grammar
from rag_assets.conversations.grammar import Phrase
from rag_assets.conversations.turns import Rewritten, Turn

_SINGULAR, _POSSESSIVE = frozenset({"it", "its"}), frozenset({"its", "their"})
_PRONOUN = re.compile(r"\b(it|its|they|them|their)\b", re.IGNORECASE)
_ASKED = r"(?:(?:and|but|so)\s+)?(?:(?:what|which|how|when|where|why|who)(?:\s+(?!{aux})[\w-]+){{0,3}}\s+)?"
_AUX = "(?:" + "|".join(sorted(grammar.AUXILIARIES)) + r")\b"
_WORD = r"[\w-]+"
_AS_SUBJECT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _ASKED.format(aux=_AUX) + _AUX + r"\s+",  # "How does it ...", "What are its ..."
        rf"(?:what|which|who)\s+(?:is|are|was|were)\s+the\s+(?:{_WORD}\s+){{1,2}}(?:of|to|for|in|with|behind|against)\s+",
    )
)
_AS_OBJECT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:who|what)\s+(?!{_AUX}){_WORD}\s+",  # "Who proposed it?"
        rf"which\s+(?:{_WORD}\s+){{1,2}}(?!{_AUX}){_WORD}\s+",  # "Which enzymes metabolise it?"
    )
)
"""What may stand before the pronoun: nothing that it could stand for."""
_SOURCES = grammar.PAPERS | {"authors", "author"}
_EXPLETIVE = re.compile(
    r"\b(?:is|was|be|does|did|can|could|will|would) it (?:not )?(?:be )?"
    r"(?:true|possible|impossible|clear|known|likely|necessary|important|better|worth|safe|reasonable|common|easy|hard|"
    r"difficult|correct|advisable|matter|take|make sense|follow|mean|seem|appear|rain)\b",
    re.IGNORECASE,
)
""" "Is it true that ...": it stands for nothing."""
_ABOUT_A_FINDING = re.compile(
    r"\b(?:measured|calculated|computed|defined|estimated|determined|assessed|chosen|set|reported|compared|derived|"
    r"tested|shown|proved|studied|investigated|examined|established|found|known)\b",
    re.IGNORECASE,
)


def spelled_out(question: str, before: Turn) -> Rewritten | None:
    """The question with its first pronoun written out; None where it has none or it may stand for several things."""
    match = _PRONOUN.search(question)
    if match is None or _EXPLETIVE.search(question) or _points_elsewhere(question, match):
        return None
    is_object = _opens(_AS_OBJECT, question, match)
    if not is_object and not _opens(_AS_SUBJECT, question, match):
        return None
    phrases = grammar.phrases_of(before.asked.question)
    if is_object and len(phrases) != 1:  # "Which animals hear them?": what does, or what it is done to
        return None
    topic = _topic(phrases, before, question, is_plural=match.group().lower() not in _SINGULAR)
    if topic is None:
        return None
    written = topic
    if match.group().lower() in _POSSESSIVE:
        if grammar.PREPOSITIONS.intersection(grammar.words(topic)):
            return None
        written = f"{topic}'" if topic.endswith("s") else f"{topic}'s"
    text = f"{question[: match.start()]}{written}{question[match.end() :]}"
    reason = f'"{match.group()}" is read as "{topic}", from the question before.'
    return Rewritten(text, is_rewritten=True, reason=reason, paper_ids=before.asked.paper_ids)


def _opens(openings: tuple[re.Pattern[str], ...], question: str, pronoun: re.Match[str]) -> bool:
    return any(opening.fullmatch(question[: pronoun.start()]) for opening in openings)


def _points_elsewhere(question: str, first: re.Match[str]) -> bool:
    """Whether there are pronouns of both numbers, or a "this" or "that": one of them stands for something else."""
    others = [match.group().lower() for match in _PRONOUN.finditer(question)]
    both = len({word in _SINGULAR for word in others}) > 1
    return both or re.search(r"\b(?:this|that|these|those)\b", question[first.end() :], re.IGNORECASE) is not None


def _topic(phrases: list[Phrase], before: Turn, question: str, *, is_plural: bool) -> str | None:
    """What a pronoun of that number stands for in the question before; phrases: of that question."""
    if not phrases or phrases[0].role != "subject":
        return None
    subject, earlier = phrases[0], before.asked.question
    if _SOURCES.intersection(grammar.words(subject.text)) and not before.asked.paper_ids:
        return None  # "the authors" of a paper that the question does not name
    if _is_definition(earlier):
        return _of_definition(phrases, earlier, question, is_plural=is_plural)
    if _ABOUT_A_FINDING.search(question):
        return None  # "Does sleep affect memory? How was it tested?": the effect, or the sleep
    return subject.text if grammar.is_plural(subject.text) == is_plural else None


def _is_definition(earlier: str) -> bool:
    return re.match(r"(?:what|who)\s+(?:is|are|was|were)\b", earlier, re.IGNORECASE) is not None


def _of_definition(phrases: list[Phrase], earlier: str, question: str, *, is_plural: bool) -> str | None:
    """ "What is the half-life of remdesivir?" holds two things: number or the follow-up's verb must tell them apart."""
    whole = earlier[phrases[0].start : phrases[-1].end]
    fitting = [phrase for phrase in phrases if grammar.is_plural(phrase.text) == is_plural]
    if len(phrases) == 1 and fitting:
        return whole
    if fitting == [phrases[0]] or (phrases[0] in fitting and _ABOUT_A_FINDING.search(question)):
        return whole
    return fitting[0].text if len(fitting) == 1 and len(phrases) == 2 else None
