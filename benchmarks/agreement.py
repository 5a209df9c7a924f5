"""How often the agreement of two sentences of papers is told right, on pairs that were labelled by hand.

    python -m benchmarks.agreement CORPORA [--half tuning|held_out] [--show LABEL:SAID ...]

CORPORA holds the papers that `agreement_pairs.jsonl` points into: a pair is two places (file below CORPORA, characters
of the file as UTF-8) with the sha256 of their sentences, a label, and the half it belongs to. No sentence is kept here.
Places lie within a JSON string or a paragraph of TEI; escapes and tags are resolved and white space is single. Rules
were written and thresholds chosen on the tuning half; pairs that share a sentence are in one half.

Labels: agree, contradict, different (the same measure or relation under other conditions, or of others), unrelated.
What is said of a pair may also be "none": the rules are silent, which is right for "unrelated". Intervals are Wilson's,
95 %.
"""

import argparse
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.verifier_errors import wilson
from rag_assets.answering.agreement.comparing import relation
from rag_assets.answering.agreement.statements import statement_of

PAIRS = Path(__file__).with_name("agreement_pairs.jsonl")
LABELS = ("agree", "contradict", "different", "unrelated")
SAID = ("agree", "contradict", "different", "none")
_TAG = re.compile(r"<[^>]*>")


class Pair(NamedTuple):
    """Two sentences and how they relate."""

    label: str
    half: str
    one: str
    other: str


def pairs(corpora: Path) -> Iterator[Pair]:
    """The pairs, with their sentences. Raises ValueError where a place holds another sentence than was labelled."""
    for line in PAIRS.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Pair(row["label"], row["half"], sentence(corpora, row["one"]), sentence(corpora, row["other"]))


def sentence(corpora: Path, place: Mapping[str, str | int]) -> str:
    """The sentence at a place."""
    file = corpora / str(place["file"])
    raw = _text_of(file)[int(place["start"]) : int(place["end"])]
    plain = html.unescape(_TAG.sub("", raw)) if file.suffix == ".xml" else str(json.loads(f'"{raw}"', strict=False))
    words = " ".join(plain.split())
    if hashlib.sha256(words.encode()).hexdigest() != place["sha256"]:
        raise ValueError(f"{file} has other words at {place['start']} to {place['end']} than were labelled")
    return words


@cache
def _text_of(file: Path) -> str:
    with file.open(encoding="utf-8", newline="") as opened:
        return opened.read()


def said_of(pair: Pair) -> str:
    """What the rules say of a pair."""
    found = relation(statement_of(pair.one), statement_of(pair.other))
    return found.value if found else "none"


def tables(counts: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """The confusion matrix, then precision and recall of what is said. counts: by label and what was said."""
    yield "| labelled | " + " | ".join(f"said {said}" for said in SAID) + " | all |\n|---|" + "---:|" * (len(SAID) + 1)
    for label in LABELS:
        row = [counts.get((label, said), 0) for said in SAID]
        yield f"| {label} | " + " | ".join(map(str, row)) + f" | {sum(row)} |"
    yield "\n| said | precision | recall |\n|---|---:|---:|"
    for said in SAID[:-1]:
        right = counts.get((said, said), 0)
        n_said = sum(counts.get((label, said), 0) for label in LABELS)
        n_labelled = sum(counts.get((said, other), 0) for other in SAID)
        yield f"| {said} | {_share(right, n_said)} | {_share(right, n_labelled)} |"


def _share(n_right: int, n: int) -> str:
    if not n:
        return "-"
    low, high = wilson(n_right, n)
    return f"{n_right}/{n} = {n_right / n:.2f} ({low:.2f}-{high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--half", choices=("tuning", "held_out"), default="tuning")
    parser.add_argument("--show", nargs="*", default=[], metavar="LABEL:SAID", help="Print such pairs, third parties'.")
    arguments = parser.parse_args()
    chosen = [pair for pair in pairs(arguments.corpora) if pair.half == arguments.half]
    said = [said_of(pair) for pair in chosen]
    for line in tables(Counter((pair.label, one) for pair, one in zip(chosen, said, strict=True))):
        print(line)
    for pair, one in zip(chosen, said, strict=True):
        if f"{pair.label}:{one}" in arguments.show:
            print(f"\n{pair.label}, said {one}\n  {pair.one}\n  {pair.other}")


if __name__ == "__main__":
    main()
