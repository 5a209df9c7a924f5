"""Quotes of real papers as a model might give them: as they are, tidied, moved, invented,
falsified.

Each kind has its own rule here, not one of the verifier's, and a fixed seed. `verifier_errors` puts
them to the test.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_assets.core.domain import Chunk
from rag_assets.core.text.sentences import sentence_spans

SEED = 20
TRIES_A_CASE = 60
STEM_CHARS = 5
TURNING = frozenset(
    "no not nor never neither none without cannot only hardly rarely few less least more most may might if could "
    "except unless all some every before after above below over under than up down increased decreased higher lower "
    "versus vs or".split()
)
"""Words whose loss a reader would call another statement; everything else counts as a light
edit."""
OPPOSITES = {
    "increased": "decreased",
    "increase": "decrease",
    "increases": "decreases",
    "higher": "lower",
    "more": "less",
    "positive": "negative",
    "positively": "negatively",
    "before": "after",
    "improved": "worsened",
    "high": "low",
    "larger": "smaller",
    "greater": "smaller",
    "better": "worse",
    "with": "without",
    "all": "some",
    "most": "few",
    "and": "or",
    "above": "below",
    "always": "never",
    "significant": "insignificant",
    "can": "cannot",
    "able": "unable",
    "minimum": "maximum",
    "first": "last",
    "hyper": "hypo",
    "inter": "intra",
}
SWAPPED = OPPOSITES | {other: one for one, other in OPPOSITES.items()}
SPELLINGS = {
    r"([a-z]{3})ization": r"\1isation",
    r"([a-z]{3})ize(d|s)?\b": r"\1ise\2",
    r"([a-z]{3})izing\b": r"\1ising",
    r"\b(behavi|col|fav|tum|hum|lab|neighb)or": r"\1our",
    r"\b(behavi|col|fav|tum|hum|lab|neighb)our": r"\1or",
    r"\banaly[sz]ed\b": "analyzed|analysed",
    r"\bmodeling\b": "modelling",
    r"\bmodelling\b": "modeling",
    r"\b(cent|fib)er(s?)\b": r"\1re\2",
    r"\b(cent|fib)re(s?)\b": r"\1er\2",
    r"([a-z]{3})isation": r"\1ization",
    r"\bpaed": "ped",
    r"\bhaem": "hem",
    r"\b(label|travel|signal|cancel)l?ed\b": r"\1ed|\1led",
}
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)?(?![\w,]|\.\d|-)")
MEASURED = re.compile(
    r"(?:(?<=[a-z] )|(?<=[=<>] )|(?<=[=<>(]))(?<!able )(?<!thm )(?<!ure )(?<!tion )(?<!tep )(?<!ine )(?<!ge )"
    r"\d+(?:\.\d+)?(?=\s?%| (?!of\b|and\b|in\b|is\b|for\b|et\b)[a-z]{3,}|,? (?:and|but)\b)"
)
NEGATION = re.compile(r"\b(?:not|no|never|without|cannot) ", re.IGNORECASE)
VERB = re.compile(
    r"\b(is|are|was|were|can|could|did|does|has|have|had|may|might|should|will|would)\b(?! not\b)"
)
MODAL = re.compile(r"\b(?:may|might|could|possibly|probably|likely|only|almost|nearly) ")
WORD_OR_SIGN = re.compile(r"[^\W_]+|[-−–](?=\.?\d)")
SIGNS = str.maketrans("−–", "--")
ELLIPSES = (" … ", " ... ", " [...] ", " […] ")


@dataclass(frozen=True)
class Corpus:
    """Chunks of real papers, and the sentences that can be quoted from them."""

    chunks: tuple[Chunk, ...]

    @cached_property
    def sentences(self) -> list[tuple[Chunk, str]]:
        return [
            (chunk, text)
            for chunk in self.chunks
            for start, end in sentence_spans(chunk.text)
            if 8 <= len((text := chunk.text[start:end]).split()) <= 60
            and " | " not in text
            and "\n" not in text
        ]

    @cached_property
    def content_words(self) -> list[str]:
        return sorted(
            {word for _, text in self.sentences for word in re.findall(r"\b[a-z]{5,12}\b", text)}
        )


@dataclass(frozen=True)
class Draw:
    """A sentence drawn for a case, with what else a case may be made of."""

    rng: random.Random
    corpus: Corpus
    chunk: Chunk
    sentence: str

    @cached_property
    def words(self) -> list[str]:
        return self.sentence.split()

    def other(self, *, of_paper: str | None) -> tuple[Chunk, str]:
        """A sentence of the same paper, or of any other paper when `of_paper` is None."""
        for _ in range(10_000):
            chunk, text = self.rng.choice(self.corpus.sentences)
            if (
                (chunk.paper_id == of_paper)
                if of_paper
                else (chunk.paper_id != self.chunk.paper_id)
            ):
                return chunk, text
        raise SystemExit("The corpus needs at least two papers.")


@dataclass(frozen=True)
class Case:
    """A quote, or a claim over a quote, and the chunk it is said to stand in."""

    quote: str
    chunk: Chunk
    origin: str
    """The sentence it was made from."""
    claim: str = ""


@dataclass(frozen=True)
class Kind:
    """A way to make cases; `make` returns None where a sentence does not lend itself."""

    name: str
    is_true: bool
    make: Callable[[Draw], Case | None]


def edited(change: Callable[[Draw], str | None]) -> Callable[[Draw], Case | None]:
    """Cases whose quote is a changed sentence, said to stand where the sentence stands."""

    def make(draw: Draw) -> Case | None:
        quote = change(draw)
        return Case(quote, draw.chunk, draw.sentence) if quote and quote != draw.sentence else None

    return make


def verbatim(draw: Draw) -> Case:
    first = draw.rng.randint(0, max(0, len(draw.words) - 8))
    last = draw.rng.randint(first + 8, len(draw.words))
    found = re.search(r"\s+".join(map(re.escape, draw.words[first:last])), draw.sentence)
    assert found
    return Case(found[0], draw.chunk, draw.sentence)


def typeset(draw: Draw) -> str | None:
    """As another print of the same words has it: one or two of five ways, where they apply."""
    ways: tuple[Callable[[str], str], ...] = (
        lambda text: re.sub(r"\b([a-z]{4})([a-z]{4,})\b", "\\1-\n\\2", text, count=1),
        lambda text: text.replace("ffi", "ﬃ").replace("fi", "ﬁ").replace("fl", "ﬂ"),
        lambda text: text.replace("'", "’").replace(' "', " “").replace('"', "”"),
        lambda text: text.replace("-", "‐").replace("–", "-"),
        lambda text: text.replace(" ", "  ", 3).replace(" the ", "\nthe "),
    )
    text = draw.sentence
    for way in draw.rng.sample(ways, 2):
        text = way(text)
    return text


def inner(draw: Draw, fits: Callable[[str], bool]) -> int | None:
    """A word that is neither the first nor the last, at random."""
    found = [i for i in range(1, len(draw.words) - 1) if fits(draw.words[i])]
    return draw.rng.choice(found) if found else None


def with_word(draw: Draw, at: int | None, *new: str) -> str | None:
    return None if at is None else " ".join([*draw.words[:at], *new, *draw.words[at + 1 :]])


def word_left_out(draw: Draw) -> str | None:
    return with_word(draw, inner(draw, lambda word: word.isalpha() and word.lower() not in TURNING))


def hyphen_tidied(draw: Draw) -> str | None:
    at = inner(
        draw, lambda word: re.fullmatch(r"[A-Za-z]{3,}[-‐–][a-z]{3,}[.,;]?", word) is not None
    )
    return (
        with_word(draw, at, re.sub(r"[-‐–]", draw.rng.choice((" ", "")), draw.words[at]))
        if at
        else None
    )


def number_of_noun(draw: Draw) -> str | None:
    at = inner(draw, lambda word: re.fullmatch(r"[a-z]{4,}(?<!ss)(?<!us)(?<!is)", word) is not None)
    return (
        with_word(
            draw, at, draw.words[at][:-1] if draw.words[at].endswith("s") else draw.words[at] + "s"
        )
        if at
        else None
    )


def spelling(draw: Draw) -> str | None:
    for pattern, written in SPELLINGS.items():
        for one in written.split("|"):
            if (text := re.sub(pattern, one, draw.sentence)) != draw.sentence:
                return text
    return None


def article(draw: Draw) -> str | None:
    at = inner(draw, lambda word: word in ("a", "an", "the"))
    way = draw.rng.choice(("insert", "drop", "exchange"))
    if way == "insert" or at is None:
        at = inner(draw, str.islower)
        return with_word(draw, at, "the", draw.words[at]) if at else None
    return with_word(
        draw, at, *(["a" if draw.words[at] == "the" else "the"] if way == "exchange" else [])
    )


def dressed(draw: Draw) -> str:
    bare = draw.sentence.rstrip(".")
    return draw.rng.choice(
        (
            f'"{draw.sentence}"',
            f"“{bare}”.",
            f"{bare}...",
            f"... {bare}",
            f"{' '.join(bare.split()[:-1])}.",
        )
    )


def two_edits(draw: Draw) -> str | None:
    one = draw.rng.choice((article, word_left_out))(draw)
    return number_of_noun(Draw(draw.rng, draw.corpus, draw.chunk, one)) if one else None


def parts(draw: Draw, wants: Callable[[Sequence[str]], bool]) -> tuple[str, str] | None:
    """Two parts of a sentence of at least four words and 20 characters, with words between them
    that `wants` takes."""
    n = len(draw.words)
    cuts = [
        (i, j)
        for i in range(4, n - 5)
        for j in range(i + 1, min(n - 4, i + 9))
        if wants([re.sub(r"\W", "", word).lower() for word in draw.words[i:j]])
    ]
    if not cuts:
        return None
    i, j = draw.rng.choice(cuts)
    one, other = " ".join(draw.words[:i]), " ".join(draw.words[j:])
    return (one, other) if min(len(one), len(other)) >= 20 else None


def ellipsis(draw: Draw) -> str | None:
    found = parts(
        draw, lambda hidden: not TURNING.intersection(hidden) and all(map(str.isalpha, hidden))
    )
    return draw.rng.choice(ELLIPSES).join(found) if found else None


def ellipsis_over_negation(draw: Draw) -> str | None:
    found = parts(
        draw, lambda hidden: bool({"not", "no", "never", "without", "cannot"}.intersection(hidden))
    )
    return draw.rng.choice(ELLIPSES).join(found) if found else None


def ellipsis_swapped(draw: Draw) -> str | None:
    found = parts(draw, bool)
    return draw.rng.choice(ELLIPSES).join(reversed(found)) if found else None


def ellipsis_half_invented(draw: Draw) -> str | None:
    _, other = draw.other(of_paper=None)
    return " ".join(draw.words[: len(draw.words) // 2]) + " … " + " ".join(other.split()[-8:])


def later_sentence(draw: Draw) -> str | None:
    """One behind the drawn sentence in its chunk, quoted as others are."""
    at = draw.chunk.text.find(draw.sentence)
    later = [
        text
        for chunk, text in draw.corpus.sentences
        if chunk is draw.chunk and draw.chunk.text.find(text) > at + len(draw.sentence)
    ]
    return draw.rng.choice(later) if later else None


def ellipsis_between_sentences(draw: Draw) -> str | None:
    later = later_sentence(draw)
    first = " ".join(draw.words[: draw.rng.randint(4, len(draw.words))])
    return first + draw.rng.choice(ELLIPSES) + later if later and len(first) >= 20 else None


def ellipsis_into_a_sentence(draw: Draw) -> str | None:
    """The rest of the other sentence from a word that no comma sets apart."""
    words = (later_sentence(draw) or "").split()
    cuts = [
        i
        for i in range(3, len(words) - 4)
        if all(map(str.isalpha, words[i - 2 : i + 1])) and words[i].islower()
    ]
    if not cuts:
        return None
    first = " ".join(draw.words[: max(4, len(draw.words) // 2)])
    return first + draw.rng.choice(ELLIPSES) + " ".join(words[draw.rng.choice(cuts) :])


def moved(draw: Draw) -> Case:
    chunk, _ = draw.other(of_paper=None)
    return Case(draw.sentence, chunk, draw.sentence)


def two_halves(draw: Draw) -> str:
    _, other = draw.other(of_paper=draw.chunk.paper_id)
    return " ".join(draw.words[: len(draw.words) // 2] + other.split()[len(other.split()) // 2 :])


def content_replaced(draw: Draw, share: float) -> str | None:
    places = [i for i, word in enumerate(draw.words) if re.fullmatch(r"[a-z]{5,}", word)]
    n = max(1, round(len(places) * share))
    words = list(draw.words)
    for at in draw.rng.sample(places, min(n, len(places))):
        word = draw.rng.choice(draw.corpus.content_words)
        if word[:STEM_CHARS] == words[at][:STEM_CHARS]:
            return None  # "platforms" for "platform" is tidying, not invention
        words[at] = word
    return " ".join(words)


def shuffled(draw: Draw) -> str:
    words = draw.words[:]
    draw.rng.shuffle(words)
    return " ".join(words)


def changed_number(
    draw: Draw, text: str, change: Callable[[random.Random, str], str]
) -> str | None:
    found = list(NUMBER.finditer(text))
    if not found:
        return None
    match = draw.rng.choice(found)
    return text[: match.start()] + change(draw.rng, match[0]) + text[match.end() :]


def other_digit(rng: random.Random, number: str) -> str:
    at = rng.choice([i for i, character in enumerate(number) if character.isdigit()])
    return (
        number[:at]
        + rng.choice([digit for digit in "123456789" if digit != number[at]])
        + number[at + 1 :]
    )


def decimal_moved(_rng: random.Random, number: str) -> str:
    if "." not in number:
        return f"{number}0"
    return f"{float(number) * 10:g}" if number.startswith("0") else number.replace(".", "")


def percent_changed(draw: Draw) -> str | None:
    found = list(re.finditer(r"(?<![\w.,-])(\d+(?:\.\d+)?)(?=\s?(?:%|percent))", draw.sentence))
    if not found:
        return None
    match = draw.rng.choice(found)
    return (
        draw.sentence[: match.start()]
        + other_digit(draw.rng, match[0])
        + draw.sentence[match.end() :]
    )


def sign_dropped(draw: Draw) -> str | None:
    text = re.sub(r"(?<=[\s(=])[-−–](?=\.?\d)", "", draw.sentence, count=1)
    return text if text != draw.sentence else None


def negation_dropped(draw: Draw) -> str | None:
    found = list(NEGATION.finditer(draw.sentence))
    match = draw.rng.choice(found) if found else None
    return draw.sentence[: match.start()] + draw.sentence[match.end() :] if match else None


def negation_added(draw: Draw) -> str | None:
    found = list(VERB.finditer(draw.sentence))
    match = draw.rng.choice(found) if found else None
    return f"{draw.sentence[: match.end()]} not{draw.sentence[match.end() :]}" if match else None


def hedge_dropped(draw: Draw) -> str | None:
    return MODAL.sub("", draw.sentence, count=1)


def opposite(draw: Draw) -> str | None:
    at = inner(draw, lambda word: word in SWAPPED)
    return with_word(draw, at, SWAPPED[draw.words[at]]) if at else None


def prefix_cut(draw: Draw) -> str | None:
    """The sentence from a word on whose negating prefix is cut off: "typical ..." out of "atypical
    ..."."""
    found = re.search(
        r"\b(?:un|in|im|ab|dis|non|a|hypo|hyper|inter|intra|de|mis|ir)-?([a-z]{5,}.{15,})",
        draw.sentence,
    )
    return found[1] if found else None


def claim_same(draw: Draw) -> Case | None:
    if not NUMBER.search(draw.sentence):
        return None
    text = draw.sentence.replace("%", " percent").replace(" (", ", ").replace("−", "-")
    return Case(
        draw.sentence,
        draw.chunk,
        draw.sentence,
        f"The authors report that {text[0].lower()}{text[1:]}",
    )


def claim_changed(draw: Draw) -> Case | None:
    """With another digit in a number that measures or counts something: numbers of tables and
    references do not."""
    found = list(MEASURED.finditer(draw.sentence))
    if not found:
        return None
    match = draw.rng.choice(found)
    number = other_digit(draw.rng, match[0])
    text = draw.sentence[: match.start()] + number + draw.sentence[match.end() :]
    return Case(draw.sentence, draw.chunk, draw.sentence, f"The authors report that {text}")


def claim_rounded(draw: Draw) -> Case | None:
    found = [
        match
        for match in NUMBER.finditer(draw.sentence)
        if re.fullmatch(r"\d\d+\.\d+|[1-9]\d{2,}", match[0])
    ]
    found = [match for match in found if not re.fullmatch(r"(?:1[5-9]|20)\d\d", match[0])]
    if not found or re.search(r"[<>≤≥~≈±]|[-−–]\d", draw.sentence):
        return None
    match = draw.rng.choice(found)
    rounded = (
        f"{float(match[0]):.0f}"
        if "." in match[0]
        else f"{round(int(match[0]), 1 - len(match[0]) + 1):d}"
    )
    if float(rounded) == float(match[0]):
        return None
    text = f"{draw.sentence[: match.start()]}about {rounded}{draw.sentence[match.end() :]}"
    return Case(draw.sentence, draw.chunk, draw.sentence, text)


KINDS = (
    Kind("verbatim", True, verbatim),
    Kind("typeset differently", True, edited(typeset)),
    Kind("tidied: word left out", True, edited(word_left_out)),
    Kind("tidied: hyphen", True, edited(hyphen_tidied)),
    Kind("tidied: plural", True, edited(number_of_noun)),
    Kind("tidied: British or American", True, edited(spelling)),
    Kind("tidied: article", True, edited(article)),
    Kind("tidied: quotation marks, period, dots", True, edited(dressed)),
    Kind("tidied: two edits", True, edited(two_edits)),
    Kind("ellipsis", True, edited(ellipsis)),
    Kind("ellipsis between sentences", True, edited(ellipsis_between_sentences)),
    Kind("ellipsis into another sentence", False, edited(ellipsis_into_a_sentence)),
    Kind("ellipsis over a negation", False, edited(ellipsis_over_negation)),
    Kind("ellipsis, parts swapped", False, edited(ellipsis_swapped)),
    Kind("ellipsis, one part of another paper", False, edited(ellipsis_half_invented)),
    Kind("moved to another paper", False, moved),
    Kind("invented: two halves joined", False, edited(two_halves)),
    Kind(
        "invented: all content words replaced",
        False,
        edited(lambda draw: content_replaced(draw, 1.0)),
    ),
    Kind("invented: a third replaced", False, edited(lambda draw: content_replaced(draw, 0.33))),
    Kind("invented: one word replaced", False, edited(lambda draw: content_replaced(draw, 0.0))),
    Kind("invented: words shuffled", False, edited(shuffled)),
    Kind(
        "number: a digit",
        False,
        edited(lambda draw: changed_number(draw, draw.sentence, other_digit)),
    ),
    Kind(
        "number: the decimal point",
        False,
        edited(lambda draw: changed_number(draw, draw.sentence, decimal_moved)),
    ),
    Kind("number: a percentage", False, edited(percent_changed)),
    Kind("number: the sign dropped", False, edited(sign_dropped)),
    Kind("meaning: negation dropped", False, edited(negation_dropped)),
    Kind("meaning: negation added", False, edited(negation_added)),
    Kind("meaning: hedge dropped", False, edited(hedge_dropped)),
    Kind("meaning: opposite word", False, edited(opposite)),
    Kind("meaning: prefix cut off", False, edited(prefix_cut)),
    Kind("claim with the same numbers", True, claim_same),
    Kind("claim with a changed number", False, claim_changed),
    Kind("claim rounded with 'about'", True, claim_rounded),
)


def cases_of(kind: Kind, corpus: Corpus, n_wanted: int, left_out: Counter[str]) -> Iterator[Case]:
    """Up to `n_wanted` different cases, the same for the same corpus."""
    rng = random.Random(f"{SEED} {kind.name}")
    made: set[str] = set()
    for _ in range(n_wanted * TRIES_A_CASE):
        if len(made) == n_wanted:
            return
        case = kind.make(Draw(rng, corpus, *rng.choice(corpus.sentences)))
        key = f"{case.quote} {case.claim}" if case else ""
        if case is None or key in made:
            continue
        if not kind.is_true and not case.claim and stands_there(case):
            left_out[kind.name] += 1
            continue
        made.add(key)
        yield case


def stands_there(case: Case) -> bool:
    """Whether a quote that was moved or made up is in its chunk all the same, as whole words."""
    quote, text = (
        f" {' '.join(WORD_OR_SIGN.findall(one.casefold()))} "
        for one in (case.quote, case.chunk.text)
    )
    return quote.translate(SIGNS) in text.translate(SIGNS)
