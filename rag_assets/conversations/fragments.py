"""Follow-ups that are no whole question: "And for children?", "What about SGD?", "Why?".

They are completed from the question before: the new phrase takes the place of the one that has its form.
"""

import re

from rag_assets.answering.prompt_injection.detection import instruction_spans
from rag_assets.conversations import grammar
from rag_assets.conversations.grammar import Phrase
from rag_assets.conversations.turns import Rewritten, Turn

_ABOUT = re.compile(r"(?:and\s+|but\s+|or\s+)?(?:what|how)\s+about\s+(?P<phrase>.+)", re.IGNORECASE)
_AND = re.compile(r"(?:and|but|or)\s+(?P<phrase>.+)", re.IGNORECASE)
_BARE = re.compile(
    r"(?:and\s+|but\s+)?(?P<word>why|how|when|where)(?:\s+(?:is|was)\s+(?:that|this)|\s+that|\s+so)?", re.IGNORECASE
)
_MAX_WORDS, _MAX_CLAIM_WORDS = 6, 30
_STARTS_SENTENCES = frozenset("the a an in this these by most all some both it".split())


def completed(question: str, before: Turn) -> Rewritten | None:
    """The whole question that a fragment stands for; None where it is no fragment or can be completed in two ways."""
    text = question.strip().rstrip(" ?.!")
    earlier = before.asked.question.strip().rstrip(" ?.!")
    if bare := _BARE.fullmatch(text):
        whole = _reasoned(bare["word"], earlier, before)
    else:
        match = _ABOUT.fullmatch(text) or _AND.fullmatch(text)
        phrase = match["phrase"] if match else text
        if not _is_phrase(phrase) or not (match or _begins_with_preposition(phrase)):
            return None
        whole = _with_phrase(phrase, earlier)
    if whole is None:
        return None
    return Rewritten(
        f"{whole}?", is_rewritten=True, reason="Completed from the question before.", paper_ids=before.asked.paper_ids
    )


def _reasoned(word: str, earlier: str, before: Turn) -> str | None:
    """ "Why" before a yes-or-no question, or before what the only claim of the answer says."""
    first, _, rest = earlier.partition(" ")
    if first.lower() in grammar.AUXILIARIES:
        return f"{word.capitalize()} {first.lower()} {rest}"
    claims = before.claims
    if word.lower() != "why" or len(claims) != 1 or instruction_spans(claims[0]):
        return None
    statement = claims[0].strip().rstrip(".")
    if len(statement.split()) > _MAX_CLAIM_WORDS or re.search(r"[.?!]\s|[\n|]", statement):
        return None
    opening, _, end = statement.partition(" ")
    opening = opening.lower() if opening.lower() in _STARTS_SENTENCES else opening
    return f"Why is it that {opening} {end}"


def _is_phrase(text: str) -> bool:
    words = grammar.words(text)
    unusual = grammar.QUESTION_WORDS | grammar.AUXILIARIES | grammar.PRONOUNS
    return 0 < len(words) <= _MAX_WORDS and not unusual.intersection(words) and not re.search(r"[,;:.]\s", text)


def _begins_with_preposition(text: str) -> bool:
    return grammar.words(text)[0] in grammar.PREPOSITIONS


def _with_phrase(phrase: str, earlier: str) -> str | None:
    phrases = grammar.phrases_of(earlier)
    if not phrases:
        return None
    first, _, rest = phrase.partition(" ")
    if first.lower() not in grammar.PREPOSITIONS:
        return _replaced(earlier, [one for one in phrases if _is_like(one, phrase)], phrase)
    same = [one for one in phrases if one.role == first.lower()]
    is_new = not same or (len(same) == 1 and _begins_with_gerund(same[0].text) and not _begins_with_gerund(rest))
    if is_new:
        return f"{earlier} {first.lower()} {rest}" if first.lower() in grammar.ADJUNCT_PREPOSITIONS else None
    return _replaced(earlier, same, rest)


def _is_like(phrase: Phrase, new: str) -> bool:
    """Whether `new` can be meant to take the place of the phrase.

    A thing that is no name takes the place of another behind a preposition only ("the point of gallium", "of indium"):
    "What about light?" after "How does rice grow?" is about rice still.
    """
    if phrase.form != (grammar.article(new), grammar.is_plural(new)):
        return False
    if grammar.is_name(new) or grammar.is_name(phrase.text):
        return grammar.is_name(new) and grammar.is_name(phrase.text)
    if grammar.words(new)[-1] == grammar.words(phrase.text)[-1]:
        return True
    both_attributes = grammar.is_attribute(new) and grammar.is_attribute(phrase.text)
    return both_attributes or (phrase.role in grammar.PREPOSITIONS and not grammar.is_attribute(new))


def _replaced(earlier: str, phrases: list[Phrase], new: str) -> str | None:
    """The question with `new` in the place of the only phrase; None for several."""
    if len(phrases) != 1 or not new:
        return None
    (old,) = phrases
    return f"{earlier[: old.start]}{new}{earlier[old.end :]}"


def _begins_with_gerund(text: str) -> bool:
    return text.partition(" ")[0].lower().endswith("ing") and " " in text
