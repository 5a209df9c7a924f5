"""How many wrong claims are published and how many honest ones are lost, by rules alone and with a
second look.

    python -m benchmarks.claims CORPORA [--half checking] [--verdicts FILE] [--show N]

CORPORA holds the papers that claims.jsonl names: 560 claims over 40 papers, half honest, half wrong
in one of eight ways, written by language models that read the papers and no code. Quotes stand in
the set as the number and the SHA-256 of their words only, and are looked up in the papers. Rules
were written with the tuning half (three writers, 24 papers) in sight; the checking half has other
writers and papers.

`verdict` of a claim is what a language model said that saw the second look's request and nothing
else. --verdicts: those of another judge, one number from 0 to 1 per line, in the order of the set.
Printed text is third parties', keep it out of files.
"""

import argparse
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.verification import ClaimOutcome, verify
from rag_assets.core.domain import FULL_SUPPORT_FROM, HALF_SUPPORT_FROM, Chunk, PaperFacts
from rag_assets.core.settings import Settings
from rag_assets.core.text.tokens import token_counter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.statements.making import statements_of
from rag_assets.parsing.registry import parser_of, sniff, stem_of
from rag_assets.parsing.shared.files import RawFile

SET = Path(__file__).with_name("claims.jsonl")
SUPPORT = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class SetClaim:
    """A claim of the set."""

    file: str
    """Relative to CORPORA."""
    half: str
    kind: str
    is_honest: bool
    question: str
    claim: str
    quotes: Sequence[tuple[int, str]]
    """Number of words and beginning of the SHA-256 of each quote's folded words."""
    verdict: str


@dataclass(frozen=True)
class Fate:
    """What becomes of a claim."""

    said: SetClaim
    outcome: ClaimOutcome
    support: float
    """Of the second look."""

    @property
    def is_held(self) -> bool:
        """By the rules."""
        return self.outcome.holds

    @property
    def is_unmarked(self) -> bool:
        """With a second look, published without a mark."""
        return self.outcome.claim is not None and self.support >= FULL_SUPPORT_FROM

    @property
    def is_published(self) -> bool:
        """With a second look, marked or not."""
        return self.is_unmarked or (self.is_held and self.support >= HALF_SUPPORT_FROM)


def read_set(path: Path = SET) -> list[SetClaim]:
    return [SetClaim(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def quote_in(text: str, n_words: int, digest: str) -> str | None:
    """The stretch of a text whose folded words have the digest, with what touches it; None where
    there is none."""
    places = [match.span() for match in _WORD.finditer(text)]
    words = [text[start:end].casefold() for start, end in places]
    for first in range(len(words) - n_words + 1):
        found = hashlib.sha256(" ".join(words[first : first + n_words]).encode()).hexdigest()
        if found.startswith(digest):
            start, end = places[first][0], places[first + n_words - 1][1]
            while start and not text[start - 1].isspace():
                start -= 1
            while end < len(text) and not text[end].isspace():
                end += 1
            return text[start:end]
    return None


def fate_of(said: SetClaim, corpora: Path, support: float) -> Fate | None:
    """None where a quote is not found: the paper is read in another way than when the set was
    made."""
    title, chunks = _paper(corpora / said.file)
    citations = []
    for n_words, digest in said.quotes:
        found = next(
            ((c, q) for c in chunks if (q := quote_in(c.text, n_words, digest)) is not None), None
        )
        if found is None:
            return None
        citations.append(DraftCitation(found[0].chunk_id, found[1]))
    given = {chunk.chunk_id: chunk for chunk in chunks}
    draft = DraftAnswer((DraftClaim(said.claim, tuple(citations)),))
    (outcome,) = verify(
        draft, given, said.question, {chunks[0].paper_id: PaperFacts(title)}
    ).outcomes
    return Fate(said, outcome, support)


@cache
def _paper(path: Path) -> tuple[str, list[Chunk]]:
    """Title and chunks of a paper; articles of COVID-QA are JSON around raw text."""
    name, content = path.name, path.read_bytes()
    if path.parent.parent.name == "covidqa":
        article = json.loads(content)
        name, content = f"{path.stem}.txt", f"{article['title']}\n\n{article['text']}".encode()
    settings = Settings()
    known = sniff(name, content)
    document = parser_of(known)(
        RawFile(stem_of(name) or path.stem, name, content), settings.parsing
    )
    counter = token_counter("wordpiece")
    chunks = chunk_paper(
        document.paper_id,
        statements_of(document.blocks, counter),
        "",
        "text",
        settings.chunking,
        counter,
        "",
    )
    return document.title or "", chunks


def table(fates: Sequence[Fate]) -> Iterator[str]:
    yield "| kind | n | rules alone | with a second look, unmarked | with a second look, marked or not |"
    yield "|---|---:|---:|---:|---:|"
    by_kind: dict[tuple[bool, str], list[Fate]] = defaultdict(list)
    for fate in fates:
        by_kind[fate.said.is_honest, fate.said.kind].append(fate)
        by_kind[fate.said.is_honest, "**all**"].append(fate)
    for (is_honest, kind), some in sorted(by_kind.items()):
        held = [sum(way(one) for one in some) for way in (_is_held, _is_unmarked, _is_published)]
        counted = [len(some) - n if is_honest else n for n in held]
        cells = " | ".join(f"{n} ({n / len(some):.0%})" for n in counted)
        yield f"| {'honest, lost' if is_honest else 'wrong, published'}: {kind} | {len(some)} | {cells} |"


def _is_held(fate: Fate) -> bool:
    return fate.is_held


def _is_unmarked(fate: Fate) -> bool:
    return fate.is_unmarked


def _is_published(fate: Fate) -> bool:
    return fate.is_published


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--half", choices=("tuning", "checking"))
    parser.add_argument("--verdicts", type=Path, help="of another judge")
    parser.add_argument(
        "--show", type=int, default=0, help="failures of the rules printed of each kind"
    )
    given = parser.parse_args()
    claims = read_set()
    missing = sorted({one.file for one in claims if not (given.corpora / one.file).is_file()})
    if missing:
        print(
            f"Nothing measured: {given.corpora} does not have {missing[0]} and {len(missing) - 1} more papers."
        )
        return
    supports = [SUPPORT[one.verdict] for one in claims]
    if given.verdicts:
        supports = [float(line) for line in given.verdicts.read_text().split()]
    fates = [
        fate_of(one, given.corpora, support)
        for one, support in zip(claims, supports, strict=True)
        if given.half in (None, one.half)
    ]
    known = [fate for fate in fates if fate is not None]
    for line in table(known):
        print(line)
    print(f"\n{len(fates) - len(known)} claims have a quote that is not found in their paper.")
    reasons = Counter(
        one.outcome.objection.reason
        for one in known
        if one.outcome.objection and one.said.is_honest
    )
    print(
        "Honest ones lost by rules: "
        + ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
    )
    shown: Counter[str] = Counter()
    for one in known:
        if one.is_held != one.said.is_honest and shown[one.said.kind] < given.show:
            shown[one.said.kind] += 1
            why = one.outcome.objection.why if one.outcome.objection else "published"
            print(f"\n{one.said.kind}: {one.said.claim}\n  {why}")


if __name__ == "__main__":
    main()
