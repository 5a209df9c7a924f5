"""Words of English that turn a statement round or make it less sure: opposites by what they say, negations, hedges.

Data only; `polarity` compares statements by it. A stem stands for all forms of a word.
"""

from collections.abc import Mapping

from rag_assets.core.text.terms import stem_of

NEGATIONS = frozenset(
    "no not never neither nor none nobody nothing nowhere without cannot non hardly barely rarely seldom".split()
)
_NEGATIVE_STEMS = (
    "fail failed failure lack lacking absence absent unable omit omitted exclude excluded unlikely impossible "
    "ineffective unaffected unchanged unreliable nonsignificant insignificant"
)
NEGATIVE_STEMS = frozenset(map(stem_of, _NEGATIVE_STEMS.split()))
"""Words that hold a negation."""
HEDGES = frozenset(
    "may might could possibly perhaps probably likely unlikely potentially presumably apparently possible possibility "
    "probable seemingly tentatively tentative arguably would should".split()
)
OPEN_WORDS = frozenset("unclear unknown whether uncertain".split())
"""What they speak of in their clause is not known."""
HEDGE_STEMS = frozenset(
    map(
        stem_of,
        "seem appear suggest suggesting speculate hypothesize assume hint imply propose believe speculation".split(),
    )
)
ALSO_CAUTIOUS = frozenset(
    map(
        stem_of,
        "can sometimes often tend argue allow ambiguous think hope indicate sign consistent plausible conceivable "
        "candidate unsettled open account explanation consider".split(),
    )
)
"""Words by which a claim may keep the caution of its quote, and which do not make a quote cautious."""
CERTAIN_STEMS = frozenset(
    map(stem_of, "prove proves proven demonstrate establish settle settled conclusively confirm doubt fact".split())
)
"""A claim with one of these keeps no caution, whatever else it says."""
_OPPOSITES = {
    "amount": (
        "increase increasing more higher greater larger bigger rise rose risen raise grow grew growth gain enhance "
        "enlarge strengthen stronger upregulation above exceed longer steeper heavier high large elevate boost",
        "decrease decreasing less fewer lower smaller fall fell fallen drop decline reduce reduction loss shrink "
        "weaken weaker downregulation below shorter thinner low diminish cut",
    ),
    "value": (
        "better improve improvement benefit beneficial superior outperform success successful helpful accurate",
        "worse worsen impair impairment deteriorate harm harmful inferior spoil inaccurate",
    ),
    "speed": ("faster quicker fast quick", "slower slow"),
    "likeness": (
        "similar same equal equivalent identical alike",
        "differ different difference dissimilar unequal",
    ),
    "sign": ("positive positively", "negative negatively"),
    "knowledge": ("known understood clear", "unknown unclear"),
    "relation": ("dependent associated association linked correlated", "independent independently unrelated"),
    "membership": ("keep kept retain include", "exclude drop omit discard remove"),
    "likelihood": ("likely probable", "unlikely improbable"),
    "judgement": ("overestimate", "underestimate"),
    "presence": ("present presence", "absent absence"),
}
DIRECTIONS: Mapping[str, tuple[str, int]] = {
    stem_of(word): (what, sign)
    for what, sides in _OPPOSITES.items()
    for sign, words in zip((1, -1), sides, strict=True)
    for word in words.split()
}
"""By stem: what the word speaks of, and which way."""
