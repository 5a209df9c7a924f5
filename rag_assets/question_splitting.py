"""Takes a compound question apart by rules: each part is searched and answered by itself.

"Why is X scaled, and who proposed Y?" asks twice in so many words. "How many people were there in A and in B?" asks
the same of two things: each gets a question of its own, so that an answer about one of them does not look whole. The
wordings are English.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.question_comparisons import Side, measured_once
from rag_assets.question_descriptions import PREPOSITION, VERB
from rag_assets.question_sides import sides_of

_ASKING = r"(?:how|what|which|why|who|whom|whose|when|where|whether)"
_AUXILIARY = r"(?:did|does|do|is|are|was|were|has|have|can|could|should|will|would)"
_ADVERB = r"(?:roughly|about|approximately|exactly|also|then|likewise|similarly)"
_ASKS = rf"(?:(?:{_ADVERB}|{PREPOSITION})\s+){{0,2}}{_ASKING}\b"
_HOW_MUCH = r"how\s+(?:many|much|long|old|often|far|large|big|high|fast)"
_ASKS_WITHIN = (
    rf"[^,;?]{{0,80}}?\b(?:{_HOW_MUCH}|what|(?:{PREPOSITION}|since|until|through|per)\s+(?:which|whom|whose|when))\b"
)
_PLACE = rf"(?:{PREPOSITION}|according\s+to)\s[^,;:?]{{2,80}},\s+"
"""What stands before some questions: "in the hay trial, how many ewes were there?"."""
_NEW_QUESTION = re.compile(
    rf"[,;]?\s+and\s+(?={_ASKS})"
    rf"|[,;]?\s+and,?\s+(?={_PLACE}{_ASKS})"
    rf"|[,;]\s+(?:but|while|whereas)\s+(?={_ASKS})"
    rf"|[,;]\s+and\s+(?={_AUXILIARY}\b)"
    r"|;\s+(?:and\s+)?(?=\S+(?:\s+\S+){3})"
    rf"|(?P<after_question>,\s+and\s+(?=(?:\S+\s+){{4}}\S)(?={_ASKS_WITHIN})|,\s+(?=(?:{_HOW_MUCH}|what)\b))",
    re.IGNORECASE,
)
"""What stands between two questions. A comma alone, and an "and" before a question that does not begin with what it
asks for ("and since when ..."), do so only behind a question."""
_ASKED_BEFORE = re.compile(
    rf"\b(?:how|what|which|why|who|whom|whose|(?:when|where)\s+{_AUXILIARY})\b(?:\s+\S+){{3}}", re.IGNORECASE
)
"""Not "when" alone: "When the field is typed in, what is shown?" is one question."""
_SENTENCE_END = re.compile(
    rf"\?\s+(?=(?:{_PLACE})?{_ASKS}|{_AUXILIARY}\b|[^?.]*\b{_ASKING}\b[^?.]*(?:\?|$))", re.IGNORECASE
)
"""Behind a question and before another. "Use what the table shows." is none."""
_AND_FIRST = re.compile(r"^(?:and|but|also),?\s+", re.IGNORECASE)
_ORDER = re.compile(
    r"(?<=[?.]) *(?:please )?(?:give|state|name|report|include|say|tell me)\b[^?.]{0,30}"
    r"\b(?:both|each|numbers?|figures?|dates?|values?|years?|names?|times?)\b[^?.]{0,30}[?.]?$",
    re.IGNORECASE,
)
"""Behind a question, and no question: "Give both numbers."."""
_LIST_ITEM = re.compile(r"[,;]\s+and\s+|;\s+", re.IGNORECASE)
_ASKS_AGAIN = re.compile(
    rf"^(?P<asked>(?:{PREPOSITION}\s+)?{_ASKING}(?:\s+(?:much|many|long|often|far|large|big|old))?)\s+"
    rf"(?P<preposition>{PREPOSITION})\s",
    re.IGNORECASE,
)
"""The second half of "By how much is X shortened with A, and by how much with B?" leaves out what is asked."""
_ASKS_OF_ANOTHER = re.compile(
    rf"^(?P<asked>(?:{PREPOSITION}\s+)?{_ASKING}(?:\s+(?:much|many|long|often|far|large|big|old))?)\s+"
    rf"(?P<thing>(?P<article>the|an?|one|each|those)\s(?!.*\b{_AUXILIARY}\b).+)$",
    re.IGNORECASE,
)
"""The second half of "How long did one bleeding last, and how long one weighing?" leaves out its verb."""
_ASKS_WHICH_AGAIN = re.compile(
    rf"^(?P<asked>(?:{PREPOSITION}\s+)?(?:which|what))\s+(?:(?={_AUXILIARY}\b)|ones?\s+)", re.IGNORECASE
)
"""The second half of "With which program was A fitted, and with which were the scores made?" leaves out the thing, and
so does "and which one fitted B?"."""
_IS_SUBJECT = re.compile(rf"^(?:the|an?|that|those)\s(?!.*\b{_AUXILIARY}\b)", re.IGNORECASE)
_OF_SUBJECT = re.compile(rf"(?P<auxiliary>{_AUXILIARY}) .+ (?P<verb>{VERB})$", re.IGNORECASE)
"""What "and which one the hill trial?" leaves out behind "Which breed did the valley trial use": "did" and "use"."""
_THING = re.compile(
    rf"\s+(?!{_AUXILIARY}\b)(\w[\w-]*(?:\s+(?!{_AUXILIARY}\b)\w[\w-]*){{0,3}}?)\s+(?:{_AUXILIARY}|\w+ed)\b",
    re.IGNORECASE,
)
_ONLY_ASKS = re.compile(rf"^(?:{PREPOSITION}\s+)?(?:how\s+\w+|{_ASKING})\?$", re.IGNORECASE)
"""The first half of "When and where was X held?"."""
_ASKS_THEN_VERB = re.compile(rf"^(?:{PREPOSITION}\s+)?(?:how\s+\w+|{_ASKING})\s+(?={_AUXILIARY}\b)", re.IGNORECASE)
_LAST_VERB = re.compile(rf" {VERB}$", re.IGNORECASE)


def split(question: str) -> list[list[Side]]:
    """What is asked, as it was asked, one list for each thing; where the same is asked of two things, one question for
    each of these."""
    sentences = _SENTENCE_END.split(_ORDER.sub("", question))
    parts = [part for sentence in sentences for part in _clauses(measured_once(sentence))]
    asked = [_AND_FIRST.sub("", part.strip(" ?;")) + "?" for part in parts]
    return [sides_of(part) or [Side(part, "")] for part in _with_what_is_asked(asked)]


def _clauses(sentence: str) -> list[str]:
    """The questions of one sentence; those behind a colon each with what stands before it."""
    head, colon, items = sentence.partition(": ")
    if colon and _LIST_ITEM.search(items):
        return _with_heads(head, _LIST_ITEM.split(items))
    if colon and len(asked := _asked_in(items)) > 1:
        return _with_heads(head, asked)
    return _asked_in(sentence)


def _asked_in(text: str) -> list[str]:
    """The text cut where a new question begins."""
    parts, start = [], 0
    for match in _NEW_QUESTION.finditer(text):
        if not match["after_question"] or _ASKED_BEFORE.search(text, start, match.start()):
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _with_heads(head: str, items: Sequence[str]) -> list[str]:
    """The items of a list, each asked of all that its head names; of one side each where there are as many sides."""
    heads = [side.text.rstrip("?") for side in sides_of(head)]
    heads = heads if len(heads) == len(items) else [head] * len(items)
    return [f"{asked}: {item}" for asked, item in zip(heads, items, strict=True)]


def _with_what_is_asked(parts: Sequence[str]) -> list[str]:
    """Parts that leave out what is asked get it from the one behind or before."""
    parts = [_with_rest(part, behind) for part, behind in pairwise([*parts, ""])]
    whole = [parts[0]]
    for part in parts[1:]:
        before = whole[-1]
        whole.append(_up_to_preposition(part, before) or _with_verb(part, before) or _with_thing(part, before) or part)
    return whole


def _with_rest(part: str, behind: str) -> str:
    """A part that is nothing but "when", with the words that follow "where" in the one behind it."""
    asks = _ASKS_THEN_VERB.match(behind) if _ONLY_ASKS.match(part) else None
    return f"{part.rstrip('?')} {behind[asks.end() :]}" if asks else part


def _up_to_preposition(part: str, before: str) -> str | None:
    """A part that goes on with a preposition, with the words of the one before up to the same preposition."""
    again = _ASKS_AGAIN.match(part)
    if again is None or not before.casefold().startswith(again["asked"].casefold()):
        return None
    at = before.find(f" {again['preposition']} ", again.end("asked"))
    return f"{before[:at]} {part[again.start('preposition') :]}" if at >= 0 else None


def _with_verb(part: str, before: str) -> str | None:
    """A part that goes on with its subject, with the words of the one before up to its own subject."""
    again = _ASKS_OF_ANOTHER.match(part)
    if again is None or not before.casefold().startswith(again["asked"].casefold() + " "):
        return None
    own = re.compile(rf"\s{again['article']}\s", re.IGNORECASE).search(before, again.end("asked"))
    verb = _LAST_VERB.search(before.rstrip("?"))
    return f"{before[: own.start()]} {again['thing'].rstrip('?')}{verb[0] if verb else ''}?" if own else None


def _with_thing(part: str, before: str) -> str | None:
    """A part that asks "with which was ...", with the thing that the one before names there."""
    again = _ASKS_WHICH_AGAIN.match(part)
    if again is None or not before.casefold().startswith(again["asked"].casefold() + " "):
        return None
    thing = _THING.match(before, again.end("asked"))
    if thing is None:
        return None
    rest = part[again.end() :]
    of_subject = _OF_SUBJECT.search(before.rstrip("?"), thing.end(1))
    if of_subject and _IS_SUBJECT.match(rest):
        rest = f"{of_subject['auxiliary']} {rest.rstrip('?')} {of_subject['verb']}?"
    return f"{again['asked']} {thing[1]} {rest}"
