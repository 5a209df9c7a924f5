"""What questions ask for, by their wording: who wrote a paper, a summary, findings, a definition, what papers state
beside their subject. The wordings are English.
"""

import re
from enum import Enum

STUDY = (
    r"(?:stud(?:y|ies)|papers?|articles?|essays?|experiments?|surveys?|trials?|diar(?:y|ies)|reviews?|research|projects?|"
    r"games?|reports?|meta-analys[ie]s|cohort|interviews?|investigation|preprint|dissertation|thesis|simulations?|"
    r"manuals?|handbooks?|guidelines?|guides?|brochures?|overviews?|polls?|patent|data ?sheets?|"
    r"(?<!\bto )work(?! (?:as|at|by|during|for|if|in|to|when|with)\b))"
)
"""What a paper is called. "The work" is one, "the router to work with" is none."""
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
_ABOUT_PUBLICATION = re.compile(
    r"\bwho (?:wrote|authored|co-?authored|published|developed|created|built|designed|introduced|proposed|invented)\b"
    r"|\bwho (?:carried out|conducted|did|ran|performed|led|undertook) (?:the|this|that)\b.{0,30}?"
    r"\b(?:study|research|experiment|trial|survey|review|analysis|meta-analysis|investigation|work|project|paper)\b"
    r"|\bwho (?:is|are|was|were) (?:the (?:\w+ )?(?:people|persons?|researchers?|scientists?|team) )?behind\b"
    r"|\b(?:written|authored) by\b|\bwhich (?:papers?|articles?|studies|works?)\b.{1,60}\b(?:write|written)\W*$"
    r"|\bwhich (?:\w+ ){0,3}?(?:papers?|articles?|studies|works?)\b.{0,20} by (?-i:[A-Z])"
    r"|(?<!\bdo the )(?<!\bdoes the )(?<!\bdid the )\bauthors? (?:of|behind)\b"
    r"|\bwho (?:is|are|was|were) (?:its|their) (?:\w+ )?authors?\b"
    r"|\b(?:who|which|what|list|name|names of) (?:(?:is|are|were) )?(?:the )?"
    r"(?:first |last |lead |senior |sole |corresponding )?authors?\b"
    r"(?! (?:(?:has|have) )?"
    r"(?:drafted|collected|analy[sz]ed|contributed|conceived|designed|supervised|performed|ran)\b)"
    r"|\b(?:which|what|whose) (?:journals?|institutions?|universit(?:y|ies)|affiliations?)\b|\baffiliated\b"
    r"|\bwhere do(?:es)? the (?:\w+ )?(?:authors?|researchers?)\b.{0,80}\bwork\b"
    r"|\bwhere (?:was|were|did) .{1,200}\bpublish(?:ed)?\b"
    r"|\b(?:when|in (?:which|what) year) (?:was|were|did) .{1,120}\b(?:published|publish|appear)\b"
    r"|\bwhen did (?:it|they) come out\b"
    r"|\bwhen (?:was|did) .{0,120}\b(?:study|paper|article|review|report|preprint|survey|trial|guide|manual)\b"
    r".{0,120}\b(?:come out|put on arxiv)\W*$"
    r"|\bpublication (?:date|year)\b|\bdoi\b",
    re.IGNORECASE,
)
_WHAT_AUTHORS_SAY = re.compile(
    r"\b(?:do|does|did) the authors? of\b[^,;?]{1,200}?\band the authors? of\b", re.IGNORECASE
)
"""Asks what several papers say, not who wrote them."""
_ABOUT_STATEMENTS = re.compile(
    r"\bpre-?regist|\bregister(?:ed|ing)?\b|\bregistration\b"
    r"|\b(?:data|code|materials?|scripts?)\b.{0,60}\b(?:available|availability|shared?|sharing|accessed|open(?:ly)?|public(?:ly)?|"
    r"found|obtained?|download(?:ed)?)\b|\bopen (?:data|code|materials?|practices?|science)\b|\bpublicly available\b"
    r"|\bfund(?:ed|er|ers|ing|s)?\b|\bfinanc(?:ed|ing|ial support)\b|\bsponsor|\bgrants?\b|\bpaid for\b"
    r"|\b(?:conflicts?|competing|conflicting|declared?)\b.{0,20}\binterests?\b|\bdisclos"
    r"|\bwhere (?:can|could|may) (?:one|i|we|readers|people) (?:get|obtain|access|download)\b"
    r"|\b(?:who|which authors?) (?:drafted|collected|analy[sz]ed|conceived|supervised)\b"
    r"|\backnowledg|\bthank|\bcontribut(?:ed|ions?)\b|\b(?:ethics|review board|ethical)\b|\bapprov(?:ed|al)\b"
    r"|\baction editor\b|\bedited\b|\borcid\b|\bsupplement(?:ary|al) (?:material|information)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"^\W*(?:(?:please|can you|could you) )*(?:summari[sz]e|sum up)\b"
    r"|\b(?:give|write|provide)\b.{0,20}\b(?:summary|overview)\b"
    r"|\b(?:summary|overview|gist) of (?:the|this) (?:paper|study|article)\b"
    r"|\bwhat (?:is|are|was|were) (?:the|this) (?:paper|study|article)\b.{0,120}\babout\b"
    r"|\bwhat does (?:the|this) (?:paper|study|article)\b.{0,120}\b(?:say|show|find)\b",
    re.IGNORECASE,
)
_QUOTED = r"[\"“«][^\"“”«»]{3,200}[\"”»]"
_THING = rf"(?:the [\w'’ -]{{3,40}} )?{_QUOTED}|[^,;:]{{3,160}}?"
_FINDINGS = re.compile(
    rf"^\W*(?:and |so )?what (?:did|do|does) (?:the authors of )?(?P<study>{_THING}) "
    r"(?:find|show|conclude|discover|report|reveal)(?: (?:out|overall|in the end))?\W*$"
    r"|^\W*(?:and |so )?what (?:are|is|were|was) the (?:(?:main|key|major|central|overall|most important) )?"
    rf"(?:findings?|results?|conclusions?) (?:of|from|in) (?P<of_study>{_THING})\W*$",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\bmeant by\b|\bwhat (?:do|does|did) .{1,80}\b(?:mean|stand for|refer to|denote)\b|\bdefin(?:e|ed|ition)\b"
    r"|^\W*what (?:is|are) (?:an? |the )?[\w-]+(?: [\w-]+){0,3}\W*$",
    re.IGNORECASE,
)
_STUDY_PHRASE = re.compile(STUDY_PHRASE, re.IGNORECASE)


class Kind(Enum):
    """What a question asks for. Most questions have none of these kinds."""

    PUBLICATION = "publication"
    """What title pages say: who wrote a paper, where and when it appeared."""
    STATEMENTS = "statements"
    """What papers state beside their subject: funding, interests, data and code, registration, who did what."""
    SUMMARY = "summary"
    """What a paper says as a whole."""
    FINDINGS = "findings"
    """What a paper found as a whole: "What did the trial of X find?"; not what it found about something."""
    DEFINITION = "definition"
    """What a name means."""


def kinds_of(question: str) -> frozenset[Kind]:
    """question: one sentence, of bounded length."""
    asked = {
        Kind.PUBLICATION: _ABOUT_PUBLICATION.search(_WHAT_AUTHORS_SAY.sub("", question)) is not None,
        Kind.STATEMENTS: _ABOUT_STATEMENTS.search(question) is not None,
        Kind.SUMMARY: _SUMMARY.search(question) is not None,
        Kind.FINDINGS: _calls_a_study(study_with_findings(question)),
        Kind.DEFINITION: _DEFINITION.search(question) is not None,
    }
    return frozenset(kind for kind, is_asked in asked.items() if is_asked)


def study_with_findings(question: str) -> str:
    """The thing whose findings a question asks for, "the trial of X" or a title; empty where it asks for none."""
    found = _FINDINGS.search(question)
    return found["study"] or found["of_study"] if found else ""


def _calls_a_study(thing: str) -> bool:
    return _STUDY_PHRASE.fullmatch(thing) is not None or re.search(_QUOTED, thing) is not None
