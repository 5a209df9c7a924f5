"""Tells differences between single words that tidying makes from those that change the meaning.

`fuzzy_match` applies it to a whole quote. Words come folded: lower case, no ligatures.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from py_rust_stemmers import SnowballStemmer
from rapidfuzz.distance import Prefix

DETERMINERS = frozenset("a an the this that these those its their our".split())
ARTICLES = frozenset("a an the".split())
MAY_BE_ADDED = DETERMINERS | frozenset(
    "of in on at for and is are was were be been has have had also which to".split()
)
"""Words that tidying may add."""
MEANING_CHANGING = frozenset(
    # negations and limits
    "not no nor never neither none nobody nothing nowhere non without cannot fail fails failed failing failure lack "
    "lacks lacked lacking absence absent unable although though but whereas only hardly rarely seldom barely scarcely "
    "few fewer little less least may might could would should "
    # what turns a statement round
    "except unless despite instead if unlikely unlike contrary contradict contradicts contradicted contradicting "
    "disprove disproved disproven refute refutes refuting myth against false incorrect incorrectly wrong denied "
    "rejected refuted exclude excludes excluded excluding avoid avoids avoided prevent prevents prevented stop stopped "
    "cease ceased "
    # how sure the authors are
    "possibly perhaps probably likely potentially presumably apparently suggest suggests suggested seem seems seemed "
    "appear appears appeared whether hypothesis hypotheses hypothesize hypothesized hypothesise hypothesised "
    "hypothetically theoretically assume assumed assuming allegedly supposedly purportedly reportedly doubt doubts "
    "doubted doubtful "
    # what others say, and what was found to be wrong or nothing
    "claim claims claimed argue argues argued believe believes believed said deny denies untrue wrongly falsely "
    "falsified debunked retracted misconception vanished insignificant insignificantly nonsignificant "
    "nonsignificantly".split()
)
"""Words that change the meaning of the words beside them."""
MAY_BE_LEFT_OUT = MAY_BE_ADDED | frozenset(
    "very quite rather too indeed itself themselves however thus therefore hence then accordingly consequently "
    "moreover furthermore additionally besides finally lastly interestingly importantly notably remarkably "
    "surprisingly overall respectively namely i.e e.g there here now as by from with".split()
)
_LIMITING = MEANING_CHANGING | frozenset(
    "while more most much many some several all any each every both either half part partly partially mostly mainly "
    "almost nearly about approximately around over under above below than up down first second third last one two "
    "three four five six seven eight nine ten eleven twelve hundred thousand million billion twice once double triple "
    "single solely exclusively sometimes often always usually generally increase increases increased decrease "
    "decreases decreased reduce reduces reduced higher lower high low greater smaller larger better worse longer "
    "shorter slightly somewhat marginally minimally moderately partially temporarily transiently initially before "
    "after during until since between among can or vs versus per percent mg kg ml mm cm km nm ms hz mv "
    "min hours days weeks months years".split()
)
"""MEANING_CHANGING, quantities, comparisons and units: words that limit what follows them."""
_COMPARATIVE = re.compile(r"[a-z]{3,}(?:er|est|less)")
_NOT_JOINED = frozenset("a an i in im un no not or less be".split())
""" "not able" and "notable", "a typical" and "atypical" are spelt alike and mean the opposite."""
_ENDINGS = frozenset(["", "s", "es", "e", "ed", "d", "ing", "y", "ies", "ied", "'s"])
_MIN_INFLECTED_CHARS = 4
_MIN_MISSPELT_CHARS = 7
_SPELLINGS = tuple(
    (re.compile(pattern), spelt)
    for pattern, spelt in (
        (r"(?<=\w\w)isation", "ization"),
        (r"(?<=\w\w)is(?=(?:e|es|ed|ing|er|ers)$)", "iz"),
        (r"(?<=\w)ys(?=(?:e|es|ed|ing|er|ers)$)", "yz"),
        (r"(?<=\w\w)our", "or"),
        (r"(?<=[bt])re(?=s?$)", "er"),
        (r"ogue(?=s?$)", "og"),
        (r"(?<=\w)[ao]e", "e"),
        (r"^[ao]e", "e"),
        (r"(?<=\w{4})ll(?=(?:ed|ing|er|ers)$)", "l"),
        (r"mme(?=s?$)", "m"),
        (r"(?<=en)c(?=es?$)", "s"),
    )
)
_STEMMER = SnowballStemmer("english")


def comes_before_number(words: Sequence[str], at: int) -> bool:
    """ "fell 20%" and "fell to 20%" are different statements; an article changes nothing."""
    return words[at] not in ARTICLES and at + 1 < len(words) and words[at + 1][0].isdigit()


def limits(word: str) -> bool:
    """Whether a word changes the meaning of the others: "most patients" are not "the patients"."""
    if word in MAY_BE_LEFT_OUT:
        return False
    return (
        word in _LIMITING
        or not word[0].isalpha()
        or word.endswith("n't")
        or bool(_COMPARATIVE.fullmatch(word))
    )


def are_joined(whole: str, parts: Sequence[str]) -> bool:
    return len(parts) == 2 and whole == parts[0] + parts[1] and not _NOT_JOINED.intersection(parts)


def are_variants(one: str, other: str) -> bool:
    """Whether two words are one with another ending or spelling, or a missing letter."""
    if not (one[0].isalpha() and other[0].isalpha()):
        return False
    return (
        _differ_in_ending(one, other)
        or _spelt(one) == _spelt(other)
        or _differ_in_one_letter(one, other)
    )


def _differ_in_ending(one: str, other: str) -> bool:
    """ "group" and "groups", "study" and "studies": the same stem, and nothing but an inflection
    differs."""
    if min(len(one), len(other)) < _MIN_INFLECTED_CHARS or _STEMMER.stem_word(
        one
    ) != _STEMMER.stem_word(other):
        return False
    n_common = Prefix.similarity(one, other)
    return one[n_common:] in _ENDINGS and other[n_common:] in _ENDINGS


@lru_cache(maxsize=4096)
def _spelt(word: str) -> str:
    """A word in one spelling: "tumour" and "tumor", "analyse" and "analyze" give the same."""
    for pattern, spelling in _SPELLINGS:
        word = pattern.sub(spelling, word)
    return word


def _differ_in_one_letter(one: str, other: str) -> bool:
    """ "signficant" and "significant": a letter inside a long word, not at its ends (typical,
    atypical)."""
    short, long = sorted((one, other), key=len)
    if len(short) < _MIN_MISSPELT_CHARS or short[-1] != long[-1]:
        return False
    n_common = Prefix.similarity(short, long)
    return n_common > 0 and short[n_common:] == long[n_common + 1 :]
