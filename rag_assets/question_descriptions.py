"""Takes apart what a question asks and the paper it asks it of: "How many took part" and "the study of exam fear".

The description tells which paper is meant. Inside that paper its words stand everywhere and find nothing. The wordings
are English.
"""

import re
from typing import NamedTuple

STUDY = (
    r"(?:stud(?:y|ies)|papers?|articles?|essays?|experiments?|surveys?|trials?|diar(?:y|ies)|reviews?|research|projects?|"
    r"games?|reports?|meta-analys[ie]s|cohort|interviews?|investigation|preprint|dissertation|thesis|simulations?|"
    r"manuals?|handbooks?|guidelines?|guides?|brochures?|overviews?|polls?|patent|data ?sheets?|"
    r"(?<!\bto )work(?! (?:as|at|by|during|for|if|in|to|when|with)\b))"
)
"""What a paper is called. "The work" is one, "the router to work with" is none."""
_BEFORE = r"(?:in|of|from|by|for|during|on|at|with|to|into|within)"
_ARTICLE = r"(?:the|this|that|those|these|\w+['’]s)"
"""A description of a paper is definite: "in a randomised trial" asks of any."""
_MODIFIERS = r"(?:(?!(?:of|the|an?|in|on|at|from|by|with|for|during|among)\b)[\w'’-]+ )"
"""Words of one noun phrase: in "in the final samples of the cash-out experiments" only the experiments are a study."""
ABOUT = (
    r"(?:of|on|about|with|into|that|which|where|among|against|between|for|from|in|by|using|who|comparing|at|to|after|"
    r"before|during)"
)
STUDY_PHRASE = rf"(?:{_ARTICLE} {_MODIFIERS}{{0,6}}?(?:{STUDY}|one)(?: {ABOUT} [^,;:]+?)?)"
""" "The Danish trial", "the review of cloud security", "the one on bets"."""
_REST = r"[^,;:]+(?:(?:, [\w'’-]+)+,? and [\w'’ -]+)?"
PREPOSITION = r"(?:in|of|for|on|with|by|at|from|to|among|during|under|against|between|over|after)"
VERB = (
    r"(?:start|find|found|show|use|have|report|conclude|include|follow|begin|end|assume|test|ask|recommend|suggest|"
    r"involve|highlight|rely|make|recruit|enrol|enroll|track|define|measure|compare|give|reach|run|last|cover|consider|"
    r"propose|warn|list|describe|need|take|collect|pay|offer|draw|come|say|tell|state|refer|want|plan|mention|name|"
    r"discuss|explain|apply|evaluate|choose|publish|provide|train|achieve|obtain|observe|look|examine|investigate|"
    r"weigh|expect|predict|introduce|develop|select|compute|calculate|imply|assess|identify|admit|detect|determine|"
    r"analy[sz]e|focus|aim|argue|claim|exclude|assign|cite|prescribe|think|believe|see|agree|differ|call|know|deal|"
    r"leave|query|keep|spend|divide)"
)
"""What papers and their authors do, as it follows "did"."""
_GOES_ON = re.compile(
    rf"(?P<cut>,?\s*\b{_BEFORE} (?P<about>{_ARTICLE} {_MODIFIERS}{{0,6}}?{STUDY} {ABOUT} {_REST}))", re.IGNORECASE
)
_DESCRIPTIONS = (
    re.compile(rf"(?P<cut>,?\s*\baccording to (?P<about>{_REST}))", re.IGNORECASE),
    _GOES_ON,
    re.compile(rf"(?P<cut>,?\s*\b{_BEFORE} (?P<about>{_ARTICLE} {_MODIFIERS}{{1,6}}?{STUDY}))(?![\w-])", re.IGNORECASE),
    re.compile(
        rf"\b(?:did|does|do|has|have)(?P<cut> (?P<about>the {_MODIFIERS}{{0,6}}?{STUDY}(?: {ABOUT} .+?)?))"
        rf"(?= {VERB}\b)",
        re.IGNORECASE,
    ),
)
_OF_STUDY_ITSELF = re.compile(
    r"^(?P<asks>(?:and )?(?:who|(?:which|what) (?:organi[sz]ations?|agenc(?:y|ies)|foundations?|committees?|boards?|"
    r"compan(?:y|ies)|institutions?|funders?))(?: (?:has|have))? (?:funded|financed|sponsored|paid for|approved)) "
    rf"(?P<about>{_ARTICLE} {_MODIFIERS}{{0,6}}?{STUDY}(?: {ABOUT} {_REST})?)$",
    re.IGNORECASE,
)
"""Asks of a study as a whole: "Who funded the trial of iodine in cows?"."""
_LEAST_ASKED_WORDS = 3
_LACKS_VERB = re.compile(r"\b(?:did|does|do) (?:(?:the|their|its|an?) )?[\w'’-]+ ?$", re.IGNORECASE)
"""What is left where a description seems to go on up to the end and holds the verb: "How did the players", of "How did
the players of the game with dice win?"."""


_STUDY_PHRASE = re.compile(STUDY_PHRASE, re.IGNORECASE)


class Described(NamedTuple):
    """A question, taken apart."""

    asked: str
    """What is left of it; the whole question where it describes no paper, or nothing would be left."""
    about: str
    """The description as it was written; empty where there is none."""


def described(question: str) -> Described:
    """What a question asks and the description of the paper it is asked of."""
    asked, found = " ".join(question.split()).rstrip("?. "), []
    if whole := _OF_STUDY_ITSELF.match(asked):
        return Described(f"{whole['asks']} it?", whole["about"])
    for pattern in _DESCRIPTIONS:
        match = pattern.search(asked)
        if match is None:
            continue
        start, end = match.span("cut")
        if pattern is _GOES_ON and _LACKS_VERB.search(asked[:start] + asked[end:]):
            continue
        found.append(match["about"])
        asked = f"{asked[:start]} {asked[end:].lstrip(', ')}".strip()
    if not found or len(asked.split()) < _LEAST_ASKED_WORDS:
        return Described(question, "")
    return Described(f"{asked}?", " ".join(found))


def is_study_phrase(thing: str) -> bool:
    """Whether the words of a thing call it a study: the words of the other thing then describe a paper too."""
    return _STUDY_PHRASE.fullmatch(thing) is not None


def asks_of_the_study_itself(question: str) -> bool:
    """Whether a question asks of a study as a whole: "Who funded the trial of iodine in cows?". Its description says
    nothing about the papers that other parts of the question mean."""
    return _OF_STUDY_ITSELF.match(" ".join(question.split()).rstrip("?. ")) is not None


def described_by(question: str, thing: str) -> Described:
    """What a question asks and the words in it that stand for a paper, which need not call it one."""
    asked = re.sub(rf",?\s*(?:\b{PREPOSITION} )?{re.escape(thing)}", "", question, count=1).rstrip("?. ")
    if len(asked.split()) < _LEAST_ASKED_WORDS:
        return Described(question, thing)
    return Described(f"{asked}?", thing)
