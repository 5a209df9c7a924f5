"""Pairs of a question and the follow-up that comes after its answer, written for this project.

`needs` says what a follow-up cannot be understood without: "papers" that the answer cites, "the
question before", or "nothing"; "nothing" also stands where the question before does not settle what
is meant.

    python -m rag_assets_tests.questions.conversations.follow_ups    # how they are read, by what
    they need
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from rag_assets.questions.conversations import Rewritten, Turn, standalone

Needs = Literal["papers", "the question before", "nothing"]


@dataclass(frozen=True)
class FollowUp:
    """One pair."""

    set: str
    before: str
    cites: tuple[str, ...]
    follow_up: str
    needs: Needs
    papers: tuple[str, ...] = ()
    """That the question is to be restricted to."""

    def read(self) -> Rewritten:
        """The follow-up as the rules read it."""
        turn = Turn(
            self.before, Rewritten.as_it_stands(self.before), {"sources_used": list(self.cites)}
        )
        return standalone(self.follow_up, [turn])

    def given(self) -> Needs:
        """What the rules add to it."""
        read = self.read()
        return (
            "papers"
            if read.paper_ids
            else "the question before"
            if read.is_rewritten
            else "nothing"
        )


def follow_ups() -> list[FollowUp]:
    lines = Path(__file__).with_name("follow_ups.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    return [
        FollowUp(
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in pair.items()
            }
        )
        for pair in pairs
    ]


def main() -> None:
    pairs = follow_ups()
    for name in dict.fromkeys(pair.set for pair in pairs):
        for needs in get_args(Needs):
            given = Counter(
                pair.given() for pair in pairs if pair.set == name and pair.needs == needs
            )
            sys.stdout.write(f"{name}, needs {needs}: given {dict(given)}\n")


if __name__ == "__main__":
    main()
