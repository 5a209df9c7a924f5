"""Takes apart a question that measures two things against each other: "Is A older than B?", "Which is older: A or B?".

A paper states a measure of its own and seldom compares it with another paper's, so each thing is asked for its measure:
"How old is A?". Two groups of one paper stay together ("Were men older than women?"): a sentence may compare them. So
both things must have a name, or one must be called a study, or "which" must set them beside each other behind a comma
or in many words. The wordings are English.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from rag_assets.question_descriptions import PREPOSITION, VERB, is_study_phrase

_HOW = {
    "How long": "longer shorter longest shortest",
    "How large": "larger bigger smaller greater largest biggest smallest greatest",
    "How high": "higher lower highest lowest",
    "How old": "older younger oldest youngest",
    "When": "earlier later sooner earliest latest first last",
    "How fast": "faster slower quicker fastest slowest",
    "How heavy": "heavier lighter heaviest lightest",
    "How expensive": "cheaper dearer cheapest",
}
_HOW_BY_WORD = {word: how for how, words in _HOW.items() for word in words.split()}
_OF_MEASURES = ("How high", "How large")
"""What is high or large is a measure itself: "What was the share in A?"."""
_ADJECTIVE = r"(?:numerous|expensive|often|frequent(?:ly)?|common)"
_COMPARATIVE = (
    rf"(?:(?:more|most|less) (?P<adjective>{_ADJECTIVE})|(?:more|fewer|most|fewest) "
    rf"(?P<counted>(?!{PREPOSITION}\b)(?:[^,: ]+ ){{0,5}}?(?:[^,: ]+s|people|men|women|children))\b"
    rf"|(?P<word>{'|'.join(_HOW_BY_WORD)}))"
)
_BE = r"(?:is|are|was|were)"
_DO = r"(?:do|does|did|has|have|had)"
_ASIDE = r"(?:,[^,]{3,30},)?"
_MORE_ARE = re.compile(rf"^(?:{_BE}|{_DO}) (?:more|fewer) (?P<one>.+?) than (?P<other>.+)$", re.IGNORECASE)
_IS_MORE = re.compile(
    rf"^(?P<verb>{_BE}) (?P<one>.{{3,120}}?){_ASIDE}(?: \w+ly)?,? {_COMPARATIVE}{_ASIDE} than (?P<other>.+)$",
    re.IGNORECASE,
)
_DOES_MORE = re.compile(
    rf"^(?P<verb>{_DO}) (?P<one>.{{3,120}}?){_ASIDE}(?: \w+ly)? {_COMPARATIVE}{_ASIDE} than (?P<other>.+)$",
    re.IGNORECASE,
)
_WHICH_MORE = re.compile(
    rf"^(?P<asks>which|who|whose|what) (?:of (?:the|these|those) (?:two )?[\w-]+ |one )?(?P<said>[^,:]{{2,60}}?) "
    rf"{_COMPARATIVE}(?P<when> in \d{{4}})?(?P<mark>[,:] )(?P<one>[^,]{{2,90}}?),? or (?P<other>[^,]{{2,90}})$",
    re.IGNORECASE,
)
_WHERE_MORE = re.compile(
    rf"^(?:where|in which(?: [\w-]+){{0,2}}) (?P<verb>{_BE}) (?P<what>[^,:]{{3,60}}?) {_COMPARATIVE}(?P<mark>[,:] )"
    rf"(?P<at_one>{PREPOSITION} )(?P<one>[^,]{{2,90}}?),? or (?P<at_other>{PREPOSITION} )(?P<other>[^,]{{2,90}})$",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"the (?:average |mean |total )?(?:shares?|rates?|sizes?|ages?|percentages?|amounts?|costs?) of ",
    re.IGNORECASE,
)
"""A thing that is itself a measure: "What is the share of A?"."""
_NUMBER_OF = re.compile(
    r"the (?:total )?(?:number|count|set|group|collection) of (?P<counted>.+?)(?: (?:who|that|which)(?P<rest> .+))?$",
    re.IGNORECASE,
)
"""A thing that is itself a number: "the number of ewes that were weighed" asks how many ewes were weighed."""
_ARE_SEVERAL = re.compile(
    r"(?:the )?(?P<counted>(?:[\w'’-]+ ){0,2}?(?:[\w'’-]+(?<![sui])s|people|men|women|children)(?: .+)?)$",
    re.IGNORECASE,
)
"""Things of which there are several: "the ewes weighed in the hill trial"."""
_OF_EACH = re.compile(
    rf"^(?P<compared>.+?),? and (?:by how (?:much|many)|how (?P<how>\w+)(?: {_BE}| {_DO})? (?:each|both))(?: one)?$",
    re.IGNORECASE,
)
_SIZES = frozenset(("large", "big", "many", "high", "much"))
_THERE = re.compile(rf"there {_BE} ", re.IGNORECASE)
_HAS_OF_ITS_OWN = re.compile(r"^(?P<thing>.+) (?P<verb>has|have|had) (?P<counted>[\w -]{2,40})$", re.IGNORECASE)
_LAST_VERB = re.compile(rf"\S+(?: {PREPOSITION})?$", re.IGNORECASE)
_IS = re.compile(rf"\b(?P<verb>{_BE})\b(?P<rest>.*)$", re.IGNORECASE)
_HAS = re.compile(r"\b(?P<verb>has|have|had)$", re.IGNORECASE)
_HAPPENED = frozenset(("came", "happened", "took place", "occurred"))
_INFINITIVES = {"took": "take", "ran": "run", "had": "have", "came": "come", "began": "begin", "went": "go"}
_BASE = re.compile(rf"{VERB}|finish|raise|reduce|increase|hold|contain|produce", re.IGNORECASE)
_LONG_WORDS = 4
"""Things that are put beside each other in so many words are seldom groups of one paper."""
_NAME = re.compile(r"\b[A-Z][\w-]+")


class Side(NamedTuple):
    """One of the two things that a question is about."""

    text: str
    """The question, asked of it alone."""
    thing: str
    """Its words; empty where the question is about one thing only."""


def measured_once(asked: str) -> str:
    """The question without "and how large was each" or "and by how much" where it compares two things anyway.

    A comparison is taken apart into these sizes. What it asks beside them stays: "and how heavy is each" behind "which
    is older".
    """
    match = _OF_EACH.match(asked.rstrip("?. "))
    sides = measured(match["compared"]) if match else []
    if match is None or not sides:
        return asked
    own = sides[0].text.split()[1].lower()
    is_asked_again = match["how"] is None or match["how"].lower() == own or {match["how"].lower(), own} <= _SIZES
    return match["compared"] if is_asked_again else asked


def measured(asked: str) -> list[Side]:
    """What is asked of each of two things; empty for a question that does not measure two. asked: without its mark."""
    for pattern, both in _WORDINGS:
        match = pattern.match(asked)
        if match is not None and (are_apart(match["one"], match["other"]) or _are_set_beside(match)):
            return both(match)
    return []


def _are_set_beside(match: re.Match[str]) -> bool:
    if match.re not in (_WHICH_MORE, _WHERE_MORE):
        return False
    return match["mark"] == ", " or are_long(match["one"], match["other"])


def are_long(one: str, other: str) -> bool:
    """Whether both things are named in so many words that they are seldom groups of one paper."""
    return min(len(one.split()), len(other.split())) >= _LONG_WORDS


def are_apart(one: str, other: str) -> bool:
    """Whether two things are hardly of one paper: each has a name that the other has not, or one is a study."""
    if is_study_phrase(one) or is_study_phrase(other):
        return True
    names, others = set(_NAME.findall(one)), set(_NAME.findall(other))
    return bool(names - others and others - names)


def _more_are(match: re.Match[str]) -> list[Side]:
    return [Side(f"How many {match[name]}?", match[name]) for name in ("one", "other")]


def _is_more(match: re.Match[str]) -> list[Side]:
    return _of_both(match, match["verb"].lower(), "")


def _of_both(match: re.Match[str], verb: str, behind: str) -> list[Side]:
    """The questions about both things; where one of them is a number, several things are counted too."""
    things = (match["one"], match["other"])
    if not any(_NUMBER_OF.match(thing) for thing in things):
        return [_of_one(_how(match), verb, thing, behind) for thing in things]
    several = [None if _NUMBER_OF.match(thing) else _ARE_SEVERAL.match(thing) for thing in things]
    return [
        Side(f"How many {counted['counted']}?", thing) if counted else _of_one(_how(match), verb, thing, behind)
        for counted, thing in zip(several, things, strict=True)
    ]


def _of_one(how: str, verb: str, thing: str, behind: str) -> Side:
    if number := _NUMBER_OF.match(thing):
        return Side(f"How many {number['counted']}{number['rest'] or ''}?", thing)
    if _MEASURE.match(thing):
        return Side(f"What {verb} {thing}?", thing)
    counted = _THERE.sub("", thing)
    return Side(f"How many {counted}?" if counted != thing else f"{how} {verb} {thing}{behind}?", thing)


def _does_more(match: re.Match[str]) -> list[Side]:
    how, verb, one, other = _how(match), match["verb"].lower(), match["one"], match["other"]
    main, own = _LAST_VERB.search(one), _HAS_OF_ITS_OWN.match(other)
    of_one = Side(f"{how} {verb} {one}?", one)
    if own is not None:
        return [of_one, Side(f"How many {own['counted']} {own['verb']} {own['thing']}?", own["thing"])]
    return [of_one, _of_one(how, verb, other, f" {main[0]}" if main else "")]


def _which_more(match: re.Match[str]) -> list[Side]:
    around = _around(match)
    if around is None:
        return []
    before, behind = around
    return _of_both(match, before, f"{behind}{match['when'] or ''}")


def _where_more(match: re.Match[str]) -> list[Side]:
    how = _how(match)
    asked = f"{'What' if how in _OF_MEASURES else how} {match['verb'].lower()} {match['what']}"
    return [Side(f"{asked} {match[f'at_{name}']}{match[name]}?", match[name]) for name in ("one", "other")]


def _around(match: re.Match[str]) -> tuple[str, str] | None:
    """The words of the question before and behind the thing that is asked about; None where its verb is not known."""
    said = match["said"]
    is_, has = _IS.search(said), _HAS.search(said)
    if match["counted"] and is_study_phrase(match["one"]):
        return "were there in", ""
    if match["asks"].lower() == "whose":
        return "do", f" {said}"
    if is_ is not None:
        return is_["verb"], is_["rest"]
    if has is not None:
        return has["verb"], ""
    if said.lower() in _HAPPENED:
        return "was", ""
    does = _infinitive(said)
    return None if does is None else ("did", f" {does}")


def _infinitive(said: str) -> str | None:
    """The words with the first one as it stands behind "did"; None where that one is no verb."""
    verb, space, rest = said.partition(" ")
    known = _INFINITIVES.get(verb.lower(), verb)
    bases = (known, verb.removesuffix("ed"), verb.removesuffix("d"), verb.removesuffix("s"))
    base = next((base for base in bases if _BASE.fullmatch(base)), None)
    return None if base is None else base + space + rest


def _how(match: re.Match[str]) -> str:
    """How the measure is asked for: "How old", "How many ewes"."""
    if match["adjective"]:
        return "How many" if match["adjective"].lower() == "numerous" else f"How {match['adjective']}"
    return f"How many {match['counted']}" if match["counted"] else _HOW_BY_WORD[match["word"].lower()]


_WORDINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[Side]]], ...] = (
    (_MORE_ARE, _more_are),
    (_IS_MORE, _is_more),
    (_DOES_MORE, _does_more),
    (_WHICH_MORE, _which_more),
    (_WHERE_MORE, _where_more),
)
