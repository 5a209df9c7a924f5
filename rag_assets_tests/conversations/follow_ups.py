"""Pairs of a question and the follow-up that comes after its answer, written for this project.

`wanted` lists the right wordings; empty where the follow-up must be asked as it stands. The pairs of every set but
"development" were written before the rules had read them; "hard" and "held out" led to changes of the rules afterwards.

    python -m rag_assets_tests.conversations.follow_ups    # how many of each set are read right, left alone, read wrong
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag_assets.conversations import Rewritten, Turn, standalone

Verdict = Literal["right", "left alone", "wrong"]


@dataclass(frozen=True)
class FollowUp:
    """One pair."""

    set: str
    before: str
    cites: tuple[str, ...]
    claim: str
    follow_up: str
    wanted: tuple[str, ...]
    papers: tuple[str, ...] = ()
    """That the question is to be restricted to."""

    def read(self) -> Rewritten:
        """The follow-up as the rules read it."""
        answer = {"answer": self.claim, "claims": [{"text": self.claim}], "sources_used": list(self.cites)}
        return standalone(self.follow_up, [Turn(self.before, Rewritten.as_it_stands(self.before), answer)])

    def verdict(self) -> Verdict:
        """A follow-up that must stay and did is right; one that could have been resolved and was not is left alone."""
        read = self.read()
        if not read.is_rewritten:
            return "left alone" if self.wanted else "right"
        return "right" if read.question in self.wanted and read.paper_ids == self.papers else "wrong"


def follow_ups() -> list[FollowUp]:
    lines = Path(__file__).with_name("follow_ups.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    return [
        FollowUp(**{name: tuple(value) if isinstance(value, list) else value for name, value in pair.items()})
        for pair in pairs
    ]


def main() -> None:
    pairs = follow_ups()
    for name in dict.fromkeys(pair.set for pair in pairs):
        of_set = [pair for pair in pairs if pair.set == name]
        to_resolve = Counter(pair.verdict() for pair in of_set if pair.wanted)
        to_leave = Counter(pair.verdict() for pair in of_set if not pair.wanted)
        sys.stdout.write(f"{name}: to be rewritten {dict(to_resolve)}, to be left alone {dict(to_leave)}\n")


if __name__ == "__main__":
    main()
