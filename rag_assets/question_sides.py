"""Takes a question about two things apart: "in A and in B", "do A and B use", "how do the samples of A and B differ?".

Each thing gets a question of its own, so that an answer about one of them does not look whole. Where an "and" may also
join two words of one thing ("the mean and the range"), one of the two must be called a study. The wordings are English.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rag_assets.question_comparisons import Side, are_apart, are_long, measured
from rag_assets.question_descriptions import PREPOSITION, STUDY, STUDY_PHRASE, VERB

_NAME = r"(?-i:[\w-]*[A-Z][\w-]*)"
_DEFINITE = rf"(?:(?:the|those|\w+['’]s) [^,;:]+?|{_NAME}(?: [^,;:]+?)?)"
_THE = r"(?:the|those|\w+['’]s)"
_DO = r"(?:do|does|did|have|has)"
_AUXILIARY = rf"(?:{_DO}|are|is|were|was|had|can|could|should|will|would)"
_MADE = r"(?:wrote|authored|conducted|did|led|ran|performed|published|funded|financed|carried out|paid for)"
_PARTICIPLE = r"(?:[\w-]+ed|held|made|done|run|drawn|written|paid)(?: out| up| on| for)?"
_NO_NOUN = "".join(rf"(?<!\b{word})" for word in "on of in for with about by from to at and or the a an".split())
_MAIN_VERB = rf"{_NO_NOUN} {VERB}\b(?! {VERB}\b)"
"""In "the one on test anxiety" and "the Amazon report say" the test and the report are no verbs."""
_MOST_WORDS = 80
"""Of a question that is taken apart: the time of the patterns grows faster than its length."""
_WHICH = "{head} {rest}, {thing}?"
_SAME_ASKED = "{head}{thing}{tail}?"
_COMPARED = "What {verb} the {what} in {thing}?"
_MORE = re.compile(
    rf"(?:{STUDY} )?[\w'’-]+ (?:(?:up|out|in) )?(?:(?:the|an?) )?(?:"
    r"(?:more|most|fewer|fewest|(?:larg|bigg|high|small|low)(?:er|est) number of) "
    r"(?P<counted>[\w'’-]+s|people|men|women|children)|(?:larg|bigg|small)(?:er|est) samples?(?: size)?)",
    re.IGNORECASE,
)
_SAMPLE = "participants"
"""What a sample consists of where the question does not say it."""
_NUMBER = re.compile(
    r"numbers? of (?P<counted>.+)|samples?(?: sizes?)?|sizes? of (?:the|their) samples?", re.IGNORECASE
)


_OF_ONE = {"do": "does", "are": "is", "were": "was", "have": "has"}
_PLURAL = re.compile(r"(?:(?<![sui])s|['’]s|people|children|men|women|data)$", re.IGNORECASE)


class _Wording(NamedTuple):
    pattern: re.Pattern[str]
    """Has the groups `one` and `other`, and those that `text` holds."""
    text: str
    """Of the question about one of them. `thing` is that one, `of` is said of it alone, `verb` fits `what`."""


def _wording(pattern: str, text: str = _SAME_ASKED) -> _Wording:
    return _Wording(re.compile(pattern, re.IGNORECASE), text)


def _of_papers(one: str, other: str) -> Iterator[_Wording]:
    """The wordings that count where one of the two things is a study. one, other: patterns of the two."""
    first, second = f"(?P<one>{one})", f"(?P<other>{other})"
    both = rf"(?:both )?{first},? and (?:{PREPOSITION} )?{second}"
    subjects = rf"(?:both |either )?{first},? (?:and|or) {second}"
    than = rf"(?:(?:that|those) )?(?:{PREPOSITION} )?{second}"
    differ, between = r"(?:differ|compare|vary)", r"(?:between|across|among|in|from)"
    which = rf"^(?P<head>which|what|who) (?:of (?:the|these|those) (?:two )?{STUDY}"
    yield _wording(rf"^how {_DO} (?:the )?(?P<what>.+?) {PREPOSITION} {both} {differ}$", _COMPARED)
    yield _wording(rf"^how {_DO} (?:the )?(?P<what>.+?) {differ} {between} {both}$", _COMPARED)
    yield _wording(
        rf"^how {_DO} (?:the )?(?P<what>.+?) {PREPOSITION} {first} {differ} (?:with|to|from) {than}$", _COMPARED
    )
    yield _wording(rf"^how {_DO} {both} {differ} (?:in|in terms of|with respect to) (?:the )?(?P<what>.+)$", _COMPARED)
    yield _wording(
        rf"^what (?:is|are|was|were) the differences? in (?:the )?(?P<what>.+?) (?:between|of) {both}$", _COMPARED
    )
    yield _wording(
        rf"^compare (?:the )?(?P<what>.+?) {PREPOSITION} {first},? (?:and|with|to|versus|vs\.?) {than}$", _COMPARED
    )
    yield _wording(rf"^(?P<head>(?:.*?\b)?{_DO} ){subjects}(?: each| both)?(?P<tail>{_MAIN_VERB}.*)$")
    yield _wording(rf"{which} )?(?P<rest>.+?)[,:]? {first},? or {second}$", _WHICH)
    yield _wording(rf"{which})?,? {first},? or {second}, (?P<rest>.+)$", _WHICH)


def _of_studies() -> Iterator[_Wording]:
    """The wordings that count where both things are studies, or end with one."""
    any_study = rf"(?:the|\w+['’]s) (?:[\w'’-]+ ){{0,6}}?{STUDY}"
    yield _wording(
        rf"^(?P<head>(?:.*?\b)?{_AUXILIARY} )(?:both )?(?P<one>{STUDY_PHRASE}),? and (?P<other>{any_study})"
        rf"(?: each| both)?(?P<tail> (?!{PREPOSITION}\b|and\b).+)$"
    )
    yield _wording(
        rf"^(?P<head>(?:.*?\b)?(?:are|is|were|was) )(?:both )?(?P<one>{STUDY_PHRASE}),? and (?P<other>{STUDY_PHRASE})"
        rf"(?: each| both)?(?P<tail> {_PARTICIPLE})$"
    )
    yield _wording(
        rf"^(?P<head>(?:.+? {PREPOSITION}|who {_MADE}) )(?:both )?(?P<one>{STUDY_PHRASE}),? and "
        rf"(?P<other>{STUDY_PHRASE})$"
    )
    yield _wording(
        rf"^(?P<head>.+? {_AUXILIARY} )(?P<of_one>(?:the|those) [^,;:]+? {PREPOSITION} )(?P<one>{STUDY_PHRASE}),? and "
        rf"(?P<of_other>(?:the|those) [^,;:]+? {PREPOSITION} )(?P<other>{_DEFINITE})$",
        "{head}{of}{thing}?",
    )


_BESIDE = r"(?:compared (?:with|to)|versus|vs\.?)"
_OF_THINGS_APART = (
    _wording(rf"^(?:compare )?(?P<head>[^,:]{{3,60}})[,:] (?P<one>.+?),? {_BESIDE} (?P<other>.+)$", "{head}: {thing}?"),
    _wording(
        rf"^compare (?:the )?(?P<what>[^,:]+?) {PREPOSITION} (?P<one>{_DEFINITE}),? (?:and|with|to|{_BESIDE}) "
        r"(?P<other>.+)$",
        _COMPARED,
    ),
    _wording(rf"^(?P<head>.+? {PREPOSITION} )(?P<one>{_DEFINITE}),? {_BESIDE} (?P<other>{_DEFINITE})$"),
)
"""Only of two things that are hardly of one paper: studies, names, or many words each behind a colon."""
_EACH = (
    _wording(
        rf"^(?P<head>(?:.*?\b)?{_AUXILIARY} )(?:both )?(?P<one>\S+ [^,;:]{{3,90}}?),? and (?P<other>[^,;:]{{3,90}}?) "
        r"each(?! other)(?P<tail> .+)$"
    ),
)
""" "Each" says that there are two, whatever they are called."""
_OF_ANYTHING = (
    _wording(
        rf"^(?P<head>.+? {PREPOSITION} )both (?P<one>{_THE} [^,;:]+?),? and (?:{PREPOSITION} )?"
        rf"(?P<other>{_THE} [^,;:]+)$"
    ),
    _wording(
        r"^(?P<head>.+?),? on (?:the )?one hand (?P<one>.+?),? (?:and |but )?on the other(?: hand)?,? (?P<other>.+)$",
        "{head} {thing}?",
    ),
    _wording(
        rf"^(?P<head>.*?\b{_DO} the (?:[\w'’-]+ ){{1,3}}?(?P<same>{PREPOSITION}) )(?P<one>{_DEFINITE}),? and (?P=same) "
        rf"(?P<other>.+?)(?: each| both)?(?P<tail>{_MAIN_VERB}.*)$"
    ),
    *(
        _wording(
            rf"^(?P<head>.+? (?:both )?(?P<same>{PREPOSITION}) )(?P<one>{begins} .+?),? and (?P=same) "
            r"(?P<other>.+?)(?P<tail> (?:come|differ|compare|have|show|report|say))?$"
        )
        for begins in (r"(?:the|an?|those|\w+'s)", r"\w+")
    ),
    _wording(rf"^(?P<head>.+? (?P<same>{PREPOSITION}) )(?P<one>{_NAME}),? and (?P=same) (?P<other>{_NAME}(?: .+)?)$"),
    _wording(
        r"^(?P<head>what (?:do|does|did) )(?P<one>the .{3,60}?) and (?P<other>the .{3,60}?)"
        r"(?P<tail> (?:say|tell|show|find|report|conclude|state|suggest)\b.*)$"
    ),
    _wording(r"^(?P<head>.+? according to )(?P<one>(?:the|an?) .+?),? and (?P<other>(?:the|an?) .+)$"),
    _wording(r"^(?P<head>(?:which|what|who) .+?, )(?P<one>[^,]{2,60}?),? or (?P<other>[^,]{2,60})$"),
)
_OF_STUDIES = (*_of_papers(STUDY_PHRASE, _DEFINITE), *_of_papers(_DEFINITE, STUDY_PHRASE), *_of_studies())
_COMPARED_WITH = re.compile(
    r"^(?P<head>(?:what|which) (?P<noun>.+?) (?:did|do|does|is|are|was|were|has|have)\b.+?),? "
    r"(?:compared (?:with|to)|as opposed to|in contrast to|unlike) (?:that|those|the one|the ones) "
    r"(?P<other>.+)$",
    re.IGNORECASE,
)


def sides_of(question: str) -> list[Side]:
    """The two sides of a question about two things; empty for any other."""
    words = question.split()
    asked = " ".join(words).rstrip("?. ") if len(words) <= _MOST_WORDS else ""
    compared = _COMPARED_WITH.match(asked)
    if compared is not None:
        return [Side(f"{compared['head']}?", ""), Side(f"What {compared['noun']} {compared['other']}?", "")]
    found = _sides(asked, _EACH) or measured(asked) or _sides(asked, (*_OF_STUDIES, *_OF_ANYTHING))
    if found:
        return found
    beside = _sides(asked, _OF_THINGS_APART)
    things = [side.thing for side in beside]
    are_two = bool(beside) and (are_apart(*things) or (":" in asked and are_long(*things)))
    return beside if are_two else []


def _sides(asked: str, wordings: Iterable[_Wording]) -> list[Side]:
    found = ((wording, match) for wording in wordings if (match := wording.pattern.match(asked)))
    wording, match = next(found, (None, None))
    return [_side(wording, match, name) for name in ("one", "other")] if wording and match else []


def _side(wording: _Wording, match: re.Match[str], name: str) -> Side:
    said = {"tail": "", "what": ""} | match.groupdict(default="")
    thing, counted = said[name], _counted(said)
    if counted:
        return Side(f"How many {counted} were there in {thing}?", thing)
    verb = "were" if said["what"].partition(" of ")[0].endswith("s") else "was"
    text = wording.text.format_map(said | {"thing": thing, "of": said.get(f"of_{name}", ""), "verb": verb})
    return Side(_with_fitting_verb(text, thing), thing)


def _with_fitting_verb(text: str, thing: str) -> str:
    """The question about one thing, whose verb was said of two: "do the hill trial" becomes "does the hill trial"."""
    named = re.split(rf" (?:{PREPOSITION}|that|which|who|about) ", thing)[0]
    if _PLURAL.search(named):
        return text
    of_two = "|".join(_OF_ONE)
    verb = re.search(rf"\b(?:{of_two})(?= {re.escape(thing)})", text, re.IGNORECASE)
    if verb is None:
        return text
    fitting = _OF_ONE[verb[0].lower()]
    return text[: verb.start()] + (fitting.capitalize() if verb[0][0].isupper() else fitting) + text[verb.end() :]


def _counted(said: Mapping[str, str]) -> str:
    """What there is more of in one of two studies: their numbers answer it. Empty where nothing is counted."""
    is_yes_or_no = re.fullmatch(_DO, said.get("head", "").strip(), re.IGNORECASE)
    more = _MORE.fullmatch(said.get("rest") or (said["tail"].strip() if is_yes_or_no else ""))
    number = _NUMBER.fullmatch(said["what"])
    if number:
        return number["counted"] or _SAMPLE
    return (more["counted"] or _SAMPLE) if more else ""
