"""How often the verifier accepts a quote it should not, and refuses one it should accept, on quotes of real papers.

    python benchmarks/verifier_errors.py [--corpus FOLDER] [--cases N]

FOLDER holds papers as the pipeline reads them, or JSON files with a `text`; the demo's papers by default. They are
parsed and chunked as the pipeline does it. Sentences of the chunks are then quoted as they are, typeset differently,
tidied, moved, invented and falsified, N of each kind (fewer where a corpus has no such sentence), with a fixed seed. A
falsified quote that happens to stand in its chunk is left out and counted. Every kind is made by its own rule here,
not by the rules of the verifier; its failures are printed. Printed text is third parties', keep it out of files.
"""

import argparse
import json
import math
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rapidfuzz import fuzz

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.near_miss import Words, tidied_from
from rag_assets.answering.verification import places, verify
from rag_assets.chunking.chunker import chunk_paper
from rag_assets.errors import RagAssetsError
from rag_assets.model import Chunk, Document, Verification
from rag_assets.parsing.registry import parser_of, sniff, stem_of
from rag_assets.parsing.text.document import parse_text
from rag_assets.sentences import sentence_spans
from rag_assets.settings import Settings
from rag_assets.tokens import token_counter

DEMO = Path(__file__).parent.parent / "data" / "papers"
SEED = 20
THRESHOLDS = (75, 80, 85, 90, 95)
N_SHOWN, SHOWN_CHARS = 20, 160
TRIES_A_CASE = 60
TURNING = frozenset(
    "no not nor never neither none without cannot only hardly rarely few less least more most may might if could "
    "except unless all some every before after above below over under than up down increased decreased higher lower "
    "versus vs or".split()
)
"""Words whose loss a reader would call another statement; everything else counts as a light edit."""
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
VERB = re.compile(r"\b(is|are|was|were|can|could|did|does|has|have|had|may|might|should|will|would)\b(?! not\b)")
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
            if 8 <= len((text := chunk.text[start:end]).split()) <= 60 and " | " not in text and "\n" not in text
        ]

    @cached_property
    def content_words(self) -> list[str]:
        return sorted({word for _, text in self.sentences for word in re.findall(r"\b[a-z]{5,12}\b", text)})


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
            if (chunk.paper_id == of_paper) if of_paper else (chunk.paper_id != self.chunk.paper_id):
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
    ways = (
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
    at = inner(draw, lambda word: re.fullmatch(r"[A-Za-z]{3,}[-‐–][a-z]{3,}[.,;]?", word) is not None)
    return with_word(draw, at, re.sub(r"[-‐–]", draw.rng.choice((" ", "")), draw.words[at])) if at else None


def number_of_noun(draw: Draw) -> str | None:
    at = inner(draw, lambda word: re.fullmatch(r"[a-z]{4,}(?<!ss)(?<!us)(?<!is)", word) is not None)
    return (
        with_word(draw, at, draw.words[at][:-1] if draw.words[at].endswith("s") else draw.words[at] + "s")
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
    return with_word(draw, at, *(["a" if draw.words[at] == "the" else "the"] if way == "exchange" else []))


def dressed(draw: Draw) -> str:
    bare = draw.sentence.rstrip(".")
    return draw.rng.choice(
        (f'"{draw.sentence}"', f"“{bare}”.", f"{bare}...", f"... {bare}", f"{' '.join(bare.split()[:-1])}.")
    )


def two_edits(draw: Draw) -> str | None:
    one = draw.rng.choice((article, word_left_out))(draw)
    return number_of_noun(Draw(draw.rng, draw.corpus, draw.chunk, one)) if one else None


def parts(draw: Draw, wants: Callable[[Sequence[str]], bool]) -> tuple[str, str] | None:
    """Two parts of a sentence of at least four words and 20 characters, with words between them that `wants` takes."""
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
    found = parts(draw, lambda hidden: not TURNING.intersection(hidden) and all(map(str.isalpha, hidden)))
    return draw.rng.choice(ELLIPSES).join(found) if found else None


def ellipsis_over_negation(draw: Draw) -> str | None:
    found = parts(draw, lambda hidden: bool({"not", "no", "never", "without", "cannot"}.intersection(hidden)))
    return draw.rng.choice(ELLIPSES).join(found) if found else None


def ellipsis_swapped(draw: Draw) -> str | None:
    found = parts(draw, bool)
    return draw.rng.choice(ELLIPSES).join(reversed(found)) if found else None


def ellipsis_half_invented(draw: Draw) -> str | None:
    _, other = draw.other(of_paper=None)
    return " ".join(draw.words[: len(draw.words) // 2]) + " … " + " ".join(other.split()[-8:])


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
        words[at] = draw.rng.choice(draw.corpus.content_words)
    return " ".join(words)


def shuffled(draw: Draw) -> str:
    words = draw.words[:]
    draw.rng.shuffle(words)
    return " ".join(words)


def changed_number(draw: Draw, text: str, change: Callable[[random.Random, str], str]) -> str | None:
    found = list(NUMBER.finditer(text))
    if not found:
        return None
    match = draw.rng.choice(found)
    return text[: match.start()] + change(draw.rng, match[0]) + text[match.end() :]


def other_digit(rng: random.Random, number: str) -> str:
    at = rng.choice([i for i, character in enumerate(number) if character.isdigit()])
    return number[:at] + rng.choice([digit for digit in "123456789" if digit != number[at]]) + number[at + 1 :]


def decimal_moved(_rng: random.Random, number: str) -> str:
    if "." not in number:
        return f"{number}0"
    return f"{float(number) * 10:g}" if number.startswith("0") else number.replace(".", "")


def percent_changed(draw: Draw) -> str | None:
    found = list(re.finditer(r"(?<![\w.,-])(\d+(?:\.\d+)?)(?=\s?(?:%|percent))", draw.sentence))
    if not found:
        return None
    match = draw.rng.choice(found)
    return draw.sentence[: match.start()] + other_digit(draw.rng, match[0]) + draw.sentence[match.end() :]


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
    """The sentence from a word on whose negating prefix is cut off: "typical ..." out of "atypical ..."."""
    found = re.search(r"\b(?:un|in|im|ab|dis|non|a|hypo|hyper|inter|intra|de|mis|ir)-?([a-z]{5,}.{15,})", draw.sentence)
    return found[1] if found else None


def claim_same(draw: Draw) -> Case | None:
    if not NUMBER.search(draw.sentence):
        return None
    text = draw.sentence.replace("%", " percent").replace(" (", ", ").replace("−", "-")
    return Case(draw.sentence, draw.chunk, draw.sentence, f"The authors report that {text[0].lower()}{text[1:]}")


def claim_changed(draw: Draw) -> Case | None:
    """With another digit in a number that measures or counts something: numbers of tables and references do not."""
    found = list(MEASURED.finditer(draw.sentence))
    if not found:
        return None
    match = draw.rng.choice(found)
    number = other_digit(draw.rng, match[0])
    text = draw.sentence[: match.start()] + number + draw.sentence[match.end() :]
    return Case(draw.sentence, draw.chunk, draw.sentence, f"The authors report that {text}")


def claim_rounded(draw: Draw) -> Case | None:
    found = [match for match in NUMBER.finditer(draw.sentence) if re.fullmatch(r"\d\d+\.\d+|[1-9]\d{2,}", match[0])]
    found = [match for match in found if not re.fullmatch(r"(?:1[5-9]|20)\d\d", match[0])]
    if not found or re.search(r"[<>≤≥~≈±]|[-−–]\d", draw.sentence):
        return None
    match = draw.rng.choice(found)
    rounded = f"{float(match[0]):.0f}" if "." in match[0] else f"{round(int(match[0]), 1 - len(match[0]) + 1):d}"
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
    Kind("ellipsis over a negation", False, edited(ellipsis_over_negation)),
    Kind("ellipsis, parts swapped", False, edited(ellipsis_swapped)),
    Kind("ellipsis, one part of another paper", False, edited(ellipsis_half_invented)),
    Kind("moved to another paper", False, moved),
    Kind("invented: two halves joined", False, edited(two_halves)),
    Kind("invented: all content words replaced", False, edited(lambda draw: content_replaced(draw, 1.0))),
    Kind("invented: a third replaced", False, edited(lambda draw: content_replaced(draw, 0.33))),
    Kind("invented: one word replaced", False, edited(lambda draw: content_replaced(draw, 0.0))),
    Kind("invented: words shuffled", False, edited(shuffled)),
    Kind("number: a digit", False, edited(lambda draw: changed_number(draw, draw.sentence, other_digit))),
    Kind("number: the decimal point", False, edited(lambda draw: changed_number(draw, draw.sentence, decimal_moved))),
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
    quote, text = (f" {' '.join(WORD_OR_SIGN.findall(one.casefold()))} " for one in (case.quote, case.chunk.text))
    return quote.translate(SIGNS) in text.translate(SIGNS)


def outcome_of(case: Case) -> str:
    """How the verifier found the quote, or "rejected"."""
    if case.claim:
        claim = DraftClaim(case.claim, (DraftCitation(case.chunk.chunk_id, case.quote),))
        kept = verify(DraftAnswer((claim,)), {case.chunk.chunk_id: case.chunk}, "").claims
        return kept[0].citations[0].verification.value if kept else "rejected"
    ways = [place.verification for place in places(case.quote, case.chunk.text)]
    order = (Verification.APPROXIMATE, Verification.NORMALIZED, Verification.EXACT)
    return next((way.value for way in order if way in ways), "rejected")


def wilson(n_wrong: int, n: int) -> tuple[float, float]:
    """95 % interval of a share."""
    z, share = 1.96, n_wrong / n
    middle, spread = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (middle - spread) / (1 + z * z / n)), min(1.0, (middle + spread) / (1 + z * z / n))


def tables(corpus: Corpus, n_wanted: int) -> Iterator[str]:
    papers = {chunk.paper_id for chunk in corpus.chunks}
    yield f"{len(papers)} papers, {len(corpus.chunks)} chunks, {len(corpus.sentences)} sentences\n"
    yield "| kind | n | exact | normalized | approximate | rejected | wrong | 95 % |\n|---|" + "---:|" * 7
    failures: list[str] = []
    near: dict[bool, list[Case]] = {True: [], False: []}
    left_out: Counter[str] = Counter()
    totals: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for kind in KINDS:
        cases = list(cases_of(kind, corpus, n_wanted, left_out))
        if not cases:
            yield f"| {kind.name} | 0 | | | | | | |"
            continue
        outcomes = [outcome_of(case) for case in cases]
        wrong = [case for case, out in zip(cases, outcomes, strict=True) if (out == "rejected") == kind.is_true]
        counts = Counter(outcomes)
        totals[kind.is_true] += Counter(n=len(cases), wrong=len(wrong))
        yield (
            f"| {kind.name} | {len(cases)} | {counts['exact']} | {counts['normalized']} | {counts['approximate']} | "
            f"{counts['rejected']} | {interval(len(wrong), len(cases))} |"
        )
        failures += [f"\n{kind.name}", *(shown(case) for case in wrong[:N_SHOWN])] if wrong else []
        near[kind.is_true] += [case for case, out in zip(cases, outcomes, strict=True) if is_near(case, out)]
    for is_true, what in ((True, "false reject"), (False, "false accept")):
        count = totals[is_true]
        yield f"| **{what}** | {count['n']} | | | | | {interval(count['wrong'], count['n'])} |"
    yield f"\nLeft out, because they stand there all the same: {dict(left_out) or 'none'}\n"
    yield from by_threshold(near)
    yield "\nFailures" if failures else "\nNo failures"
    yield from failures


def interval(n_wrong: int, n: int) -> str:
    low, high = wilson(n_wrong, n)
    return f"{n_wrong} ({n_wrong / n:.1%}) | {low:.1%}-{high:.1%}"


def is_near(case: Case, outcome: str) -> bool:
    """Whether a case is one for approximate matching: a quote in one piece, not found as it is."""
    return not case.claim and outcome in ("approximate", "rejected") and not re.search(r"…|\.\.\.", case.quote)


def by_threshold(near: dict[bool, list[Case]]) -> Iterator[str]:
    """What likeness alone would do, and likeness with the word rules, at several thresholds."""
    alike = {
        is_true: [
            (
                fuzz.partial_ratio(Words.of(case.quote).joined, Words.of(case.chunk.text).joined),
                tidied_from(case.quote, case.chunk.text),
            )
            for case in cases
        ]
        for is_true, cases in near.items()
    }
    yield (
        f"Near misses only: {len(near[True])} tidied quotes, {len(near[False])} moved, invented or falsified ones\n\n"
        "| threshold | likeness alone: false reject | false accept | with word rules: false reject | false accept |\n"
        "|---|---:|---:|---:|---:|"
    )
    for threshold in THRESHOLDS:
        refused = [
            sum(score < threshold for score, _ in alike[True]),
            sum(not found or found.score < threshold for _, found in alike[True]),
        ]
        accepted = [
            sum(score >= threshold for score, _ in alike[False]),
            sum(bool(found) and found.score >= threshold for _, found in alike[False]),
        ]
        shares = [
            f"{count / max(1, len(near[is_true])):.1%}"
            for count, is_true in ((refused[0], True), (accepted[0], False), (refused[1], True), (accepted[1], False))
        ]
        yield f"| {threshold} | " + " | ".join(shares) + " |"


def shown(case: Case) -> str:
    found = places(case.quote, case.chunk.text)
    read = " / ".join(case.chunk.text[place.start : place.end] for place in found)
    lines = [f"- quote:  {case.quote[:SHOWN_CHARS]!r}", f"  origin: {case.origin[:SHOWN_CHARS]!r}"]
    lines += [f"  claim:  {case.claim[:SHOWN_CHARS]!r}"] if case.claim else []
    lines += [f"  found:  {read[:SHOWN_CHARS]!r}"] if read and not case.claim else []
    return "\n".join(lines)


def seconds_of_misses(corpus: Corpus) -> str:
    """What a quote costs that is in none of twelve chunks, the chunks known and the quote new."""
    rng = random.Random(SEED)
    chunks = sorted(corpus.chunks, key=lambda chunk: -len(chunk.text))[:12]
    for chunk in chunks:
        places("Nowhere does the source say what is said here.", chunk.text)
    quotes = [text for chunk, text in rng.sample(corpus.sentences, 60) if chunk not in chunks]
    took = []
    for quote in quotes:
        changed = f"Nowhere {quote}"
        started = time.perf_counter()
        for chunk in chunks:
            places(changed, chunk.text)
        took.append(time.perf_counter() - started)
    took.sort()
    n_chars = sum(len(chunk.text) for chunk in chunks) // len(chunks)
    return (
        f"A miss over {len(chunks)} chunks of about {n_chars} characters: "
        f"median {took[len(took) // 2] * 1e3:.1f} ms, worst {took[-1] * 1e3:.1f} ms"
    )


def read_corpus(folder: Path, work: Path, settings: Settings) -> Corpus:
    counter = token_counter("wordpiece")
    chunks: list[Chunk] = []
    for paper in papers_in(folder, work, settings):
        chunks += chunk_paper(paper.paper_id, paper.blocks, "", "text", settings.chunking, counter, "")
    return Corpus(tuple(chunk for chunk in chunks if not chunk.is_generated))


def papers_in(folder: Path, work: Path, settings: Settings) -> Iterator[Document]:
    """Each paper once: the best of its files, a PDF only where there is no other."""
    by_stem: dict[str, list[Path]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "README.md"):
        if stem := stem_of(path.name):
            by_stem.setdefault(stem, []).append(path)
    for stem, paths in by_stem.items():
        path = min(paths, key=lambda one: (one.suffix == ".pdf", one.name))
        if path.suffix == ".json" and (text := json.loads(path.read_bytes()).get("text")):
            path = work / f"{stem}.txt"
            path.write_text(text, "utf-8")
            yield parse_text(path, stem, path.name, settings.parsing, settings.limits)
        elif known := sniff(path).format:
            try:
                yield parser_of(known)(path, stem, path.name, settings.parsing, settings.limits)
            except RagAssetsError as error:
                print(f"{path.name} left out: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=DEMO)
    parser.add_argument("--cases", type=int, default=100, help="of each kind")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        corpus = read_corpus(given.corpus, Path(temporary), Settings())
    for line in tables(corpus, given.cases):
        print(line, flush=True)
    print(f"\n{seconds_of_misses(corpus)}")


if __name__ == "__main__":
    main()
