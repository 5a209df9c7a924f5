"""The labelled pairs by which the agreement of papers is measured."""

import json
from collections import Counter

import pytest

from benchmarks.agreement import LABELS, PAIRS, pairs, sentence, tables
from rag_assets_tests.corpora import corpus_path


def test_each_label_has_pairs_in_both_halves_and_no_pair_holds_words_of_a_paper() -> None:
    """A figure from a handful of pairs chooses a wrong default; and the papers are third parties'."""
    rows = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    counts = Counter((row["label"], row["half"]) for row in rows)

    assert set(counts) == {(label, half) for label in LABELS for half in ("tuning", "held_out")}
    assert len(rows) >= 100
    assert counts["contradict", "tuning"] + counts["contradict", "held_out"] >= 25
    assert all(set(row) == {"label", "half", "one", "other"} for row in rows)
    assert all(set(row[side]) == {"file", "start", "end", "sha256"} for row in rows for side in ("one", "other"))


def test_no_sentence_is_in_both_halves() -> None:
    """What a rule was written for would count as held out."""
    halves: dict[str, set[str]] = {}
    for line in PAIRS.read_text("utf-8").splitlines():
        row = json.loads(line)
        for side in ("one", "other"):
            halves.setdefault(row[side]["sha256"], set()).add(row["half"])

    assert all(len(found) == 1 for found in halves.values())


def test_every_place_holds_the_sentence_that_was_labelled() -> None:
    """Sentences that moved would be compared with labels of others."""
    found = list(pairs(corpus_path(".")))

    assert len(found) == len(PAIRS.read_text("utf-8").splitlines())
    assert all(len(pair.one) >= 40 and len(pair.other) >= 40 for pair in found)


def test_other_words_at_a_place_are_an_error() -> None:
    """A label would be given to a sentence that was never read."""
    place = json.loads(PAIRS.read_text("utf-8").splitlines()[0])["one"]

    with pytest.raises(ValueError, match="other words"):
        sentence(corpus_path("."), place | {"start": place["start"] + 1})


def test_precision_counts_what_was_said_and_recall_what_was_labelled() -> None:
    """Exchanged, silence would look like error."""
    counts = {("agree", "agree"): 3, ("agree", "none"): 1, ("unrelated", "agree"): 2}

    lines = "\n".join(tables(counts))

    assert "| agree | 3 | 0 | 0 | 1 | 4 |" in lines
    assert "| agree | 3/5 = 0.60 (0.23-0.88) | 3/4 = 0.75 (0.30-0.95) |" in lines
    assert "| contradict | - | - |" in lines
