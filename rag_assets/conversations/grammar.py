"""The noun phrases of an English question, found by word lists: enough to tell what a follow-up points at.

A question whose parts cannot be told apart has no phrases here, so that nothing is read into it.
"""

import re
from dataclasses import dataclass

from rag_assets.text.names import words_of, words_written_as_names

WORD = re.compile(r"[^\W_](?:[\w'’.,/+-]*\w)?")
QUESTION_WORDS = frozenset("what which who whom whose when where why how".split())
BE = frozenset("is are was were".split())
AUXILIARIES = BE | frozenset("do does did can could should will would may might must has have had".split())
_TAKE_BASE_FORM = frozenset("do does did can could should will would may might must".split())
PREPOSITIONS = frozenset(
    "of in on at for with without to by from during after before under among against between within across over "
    "through about into per as than via using towards beyond behind around".split()
)
ADJUNCT_PREPOSITIONS = frozenset("in on at for with without during after before under among within".split())
"""They begin phrases that any question may be given: "in adolescents", "at night"."""
DETERMINERS = frozenset("the a an".split())
PRONOUNS = frozenset(
    "i you he she it we they me him her us them my your his its our their this that these those one ones there".split()
)
PAPERS = frozenset(
    "paper papers study studies article articles trial trials review reviews report reports publication publications "
    "preprint preprints survey surveys".split()
)
_POINTING = frozenset("this that these those".split())
_ATTRIBUTES = frozenset(
    "accuracy age cause causes cost costs dose duration effect effects latency limitation limitations memory method "
    "methods outcome outcomes performance precision price quality rate recall result results risk risks safety score "
    "side size speed strength time yield".split()
)
_ATTRIBUTE = re.compile(r"\w+(?:ity|ness|acy|ency|ancy)")
_JOINING = frozenset("and or but if when while because that which who whether".split())
_ADVERBS = frozenset("not also still often usually only ever never always really actually mainly exactly more".split())
_VERBS = frozenset(
    "accept account achieve act add address affect agree aim align allow answer appear apply assess assign assume "
    "attach attack avoid bear become begin behave belong benefit bind block break bring build calculate carry "
    "cause change choose cite classify clean combine come compare compete compress compute conclude confirm "
    "connect consider consist contain contribute control converge correct correlate cost count cover create cut "
    "damage deal decay decide decline decrease define delete deliver depend describe destroy detect determine "
    "develop die differ disappear discuss divide do drop eat emerge emit employ enable encode enhance enter "
    "estimate evaluate evolve examine exceed exist expect explain express extend extract fail fall favour favor "
    "feed fight filter find fit flow focus follow form fuse gain generate get give go grow handle happen harm "
    "have help hold identify ignore impact improve include increase indicate induce infect influence inhibit "
    "interact invade involve keep kill know lack last lead learn leave limit live look lose lower make manage "
    "matter mean measure migrate minimise minimize mitigate modify move mutate navigate need normalise normalize "
    "occur offer operate optimise optimize order outperform pack pass pay perform permit persist play predict "
    "prefer prevent produce promote propose protect prove provide raise rank reach react read reason receive "
    "recognise recognize recommend recover reduce refer reflect refuse regenerate regulate reject relate release "
    "rely remain remove repair replace replicate report represent require resist respond result retrieve return "
    "rise run save say scale score search select separate serve show slow solve sort speed split spread start "
    "stay stimulate stop store strengthen struggle succeed suffer suggest support survive take target teach tell "
    "tend tire tokenise tokenize train transfer transform transmit treat trigger truncate try turn understand use "
    "vary verify weaken weigh work worsen write yield".split()
)
_PREDICATE = re.compile(
    r"\w{2,}(?:ed|ive|able|ible|ful|ous)|given|known|shown|found|made|kept|cut|set|built|held|read|done|"
    r"taken|chosen|written|drawn|grown|seen|driven|sent|better|worse|faster|slower|larger|smaller|higher|lower|safe|"
    r"significant|different|similar|good|bad|present|true|important|necessary|sufficient|common|rare"
)
_IRREGULAR_PLURALS = frozenset(
    "mice children people men women data criteria phenomena bacteria teeth feet geese".split()
)
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")
_MAX_PHRASE_WORDS = 7


@dataclass(frozen=True)
class Phrase:
    """A noun phrase of a question."""

    start: int
    """Offset in the question."""
    text: str
    role: str
    """"subject"; "object" of the verb; or the preposition before it."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def form(self) -> tuple[str, bool]:
        """Its article ("the", "a", "" for none), and whether it is plural: what a phrase in its place has too."""
        return article(self.text), is_plural(self.text)


def words(text: str) -> list[str]:
    """The words, lower case."""
    return [match.group().lower() for match in WORD.finditer(text)]


def article(phrase: str) -> str:
    first = words(phrase)[0]
    return "a" if first == "an" else first if first in DETERMINERS else ""


def is_name(phrase: str) -> bool:
    """Whether the phrase is written as a name, as "BM25" or "Adam" within a question."""
    spelled = words_of(phrase)[1 if article(phrase) else 0 :]
    return bool(spelled) and words_written_as_names(f"of {phrase}").issuperset(spelled)


def is_attribute(phrase: str) -> bool:
    """Whether the phrase names a property ("the recall", "toxicity"), not a thing that has properties."""
    head = words(phrase)[-1]
    return head in _ATTRIBUTES or _ATTRIBUTE.fullmatch(head) is not None


def is_plural(phrase: str) -> bool:
    """By the ending of its last word."""
    head = words(phrase)[-1]
    if head in _IRREGULAR_PLURALS or " and " in phrase:
        return True
    return head.endswith("s") and not head.endswith(_SINGULAR_ENDINGS) and not is_name(phrase)


def phrases_of(question: str) -> list[Phrase]:
    """The noun phrases behind the first auxiliary of a question, in order; none where they cannot be told apart.

    The phrase that is asked for ("which dataset", "how many tokens") is none of them.
    """
    tokens = list(WORD.finditer(question))
    lowered = _with_articles([token.group().lower() for token in tokens])
    first = next((at for at, word in enumerate(lowered) if word in AUXILIARIES), None)
    if first is None or any(
        word in QUESTION_WORDS | PRONOUNS | _JOINING | AUXILIARIES for word in lowered[first + 1 :]
    ):
        return []
    if first > 0 and lowered[0] not in QUESTION_WORDS:
        return []
    following = tokens[first + 1 :]
    if first > 1 and following and _PREDICATE.fullmatch(following[0].group().lower()):
        return _chunked(question, following[1:], "object")  # "Which test was used": the subject is what is asked for
    return _chunked(question, following, "subject", needs_verb=lowered[first] in _TAKE_BASE_FORM)


def _with_articles(lowered: list[str]) -> list[str]:
    """ "That paper" says which one as "the paper" does; the paper is known by the restriction of the question."""
    following = [*lowered[1:], ""]
    return [
        "the" if word in _POINTING and after in PAPERS else word for word, after in zip(lowered, following, strict=True)
    ]


def _chunked(question: str, tokens: list[re.Match[str]], role: str, *, needs_verb: bool = False) -> list[Phrase]:
    """role: of the first phrase. needs_verb: there must be a verb, in its base form."""
    found: list[Phrase] = []
    run: list[re.Match[str]] = []
    has_verb = False
    for token in [*tokens, None]:
        word = token.group().lower() if token else ""
        may_end = bool(run) and run[-1].group().lower() not in DETERMINERS
        is_verb = needs_verb and not has_verb and may_end and word in _VERBS
        is_predicate = not needs_verb and not has_verb and may_end and bool(_PREDICATE.fullmatch(word))
        if token and not is_verb and not is_predicate and word not in PREPOSITIONS | _ADVERBS:
            run.append(token)
            continue
        if run:
            found.append(Phrase(run[0].start(), question[run[0].start() : run[-1].end()], role))
            run = []
        has_verb = has_verb or is_verb or is_predicate
        role = word if word in PREPOSITIONS else "object" if is_verb or is_predicate else role
    if (needs_verb and not has_verb) or any(len(phrase.text.split()) > _MAX_PHRASE_WORDS for phrase in found):
        return []
    return found
