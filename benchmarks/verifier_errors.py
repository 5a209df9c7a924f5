"""How often the verifier accepts a quote it should not, and refuses one it should accept, on quotes
of real papers.

    python -m benchmarks.verifier_errors [--corpus FOLDER] [--cases N]

FOLDER holds papers as the pipeline reads them, or JSON files with a `text`; the demo's papers by
default. They are parsed and chunked as the pipeline does it. Sentences of the chunks are then
quoted as they are, typeset differently, tidied, moved, invented and falsified, N of each kind
(fewer where a corpus has no such sentence), with a fixed seed. A falsified quote that happens to
stand in its chunk is left out and counted. Every kind is made by its own rule here, not by the
rules of the verifier; its failures are printed. Printed text is third parties', keep it out of
files.
"""

import argparse
import json
import math
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rapidfuzz import fuzz

from benchmarks.verifier_cases import KINDS, SEED, Case, Corpus, cases_of
from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.fuzzy_match import Words, align_tidied
from rag_assets.answering.verify.quote_search import find_quote
from rag_assets.answering.verify.verification import verify
from rag_assets.core.domain import Chunk, Document, Verification
from rag_assets.core.errors import RagAssetsError
from rag_assets.core.settings import Settings
from rag_assets.core.text.tokens import token_counter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.statements.making import statements_of
from rag_assets.parsing.formats.text.document import parse_text
from rag_assets.parsing.registry import parser_of, sniff, stem_of
from rag_assets.parsing.shared.files import RawFile

DEMO = Path(__file__).parent.parent / "data" / "papers"
THRESHOLDS = (75, 80, 85, 90, 95)
N_SHOWN, SHOWN_CHARS = 20, 160


def outcome_of(case: Case) -> str:
    """How the verifier found the quote, or "rejected"."""
    if case.claim:
        claim = DraftClaim(case.claim, (DraftCitation(case.chunk.chunk_id, case.quote),))
        kept = verify(DraftAnswer((claim,)), {case.chunk.chunk_id: case.chunk}, "").claims
        return kept[0].citations[0].verification.value if kept else "rejected"
    ways = [place.verification for place in find_quote(case.quote, case.chunk.text)]
    order = (Verification.APPROXIMATE, Verification.NORMALIZED, Verification.EXACT)
    return next((way.value for way in order if way in ways), "rejected")


def wilson(n_wrong: int, n: int) -> tuple[float, float]:
    """95 % interval of a share."""
    z, share = 1.96, n_wrong / n
    middle, spread = (
        share + z * z / (2 * n),
        z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)),
    )
    return max(0.0, (middle - spread) / (1 + z * z / n)), min(
        1.0, (middle + spread) / (1 + z * z / n)
    )


def tables(corpus: Corpus, n_wanted: int) -> Iterator[str]:
    papers = {chunk.paper_id for chunk in corpus.chunks}
    yield f"{len(papers)} papers, {len(corpus.chunks)} chunks, {len(corpus.sentences)} sentences\n"
    yield (
        "| kind | n | exact | normalized | approximate | rejected | wrong | 95 % |\n|---|"
        + "---:|" * 7
    )
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
        wrong = [
            case
            for case, out in zip(cases, outcomes, strict=True)
            if (out == "rejected") == kind.is_true
        ]
        counts = Counter(outcomes)
        totals[kind.is_true] += Counter(n=len(cases), wrong=len(wrong))
        yield (
            f"| {kind.name} | {len(cases)} | {counts['exact']} | {counts['normalized']} | {counts['approximate']} | "
            f"{counts['rejected']} | {interval(len(wrong), len(cases))} |"
        )
        failures += [f"\n{kind.name}", *(shown(case) for case in wrong[:N_SHOWN])] if wrong else []
        near[kind.is_true] += [
            case for case, out in zip(cases, outcomes, strict=True) if is_near(case, out)
        ]
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
    return (
        not case.claim
        and outcome in ("approximate", "rejected")
        and not re.search(r"…|\.\.\.", case.quote)
    )


def by_threshold(near: dict[bool, list[Case]]) -> Iterator[str]:
    """What likeness alone would do, and likeness with the word rules, at several thresholds."""
    alone = {is_true: [likeness(case) for case in cases] for is_true, cases in near.items()}
    ruled = {
        is_true: [likeness_by_rules(case) for case in cases] for is_true, cases in near.items()
    }
    yield (
        f"Near misses only: {len(near[True])} tidied quotes, {len(near[False])} moved, invented or falsified ones\n\n"
        "| threshold | likeness alone: false reject | false accept | with word rules: false reject | false accept |\n"
        "|---|---:|---:|---:|---:|"
    )
    for threshold in THRESHOLDS:
        shares = []
        for scores in (alone, ruled):
            refused = sum(score < threshold for score in scores[True]) / max(1, len(scores[True]))
            accepted = sum(score >= threshold for score in scores[False]) / max(
                1, len(scores[False])
            )
            shares += [f"{refused:.1%}", f"{accepted:.1%}"]
        yield f"| {threshold} | " + " | ".join(shares) + " |"


def likeness(case: Case) -> float:
    return fuzz.partial_ratio(Words.of(case.quote).joined, Words.of(case.chunk.text).joined)


def likeness_by_rules(case: Case) -> float:
    """0 where a difference is of a kind that tidying does not make."""
    found = align_tidied(case.quote, case.chunk.text)
    return found.score if found else 0.0


def shown(case: Case) -> str:
    found = find_quote(case.quote, case.chunk.text)
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
        find_quote("Nowhere does the source say what is said here.", chunk.text)
    quotes = [text for chunk, text in rng.sample(corpus.sentences, 60) if chunk not in chunks]
    took = []
    for quote in quotes:
        changed = f"Nowhere {quote}"
        started = time.perf_counter()
        for chunk in chunks:
            find_quote(changed, chunk.text)
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
        chunks += chunk_paper(
            paper.paper_id,
            statements_of(paper.blocks, counter),
            "",
            "text",
            settings.chunking,
            counter,
            "",
        )
    return Corpus(tuple(chunk for chunk in chunks if not chunk.is_generated))


def papers_in(folder: Path, work: Path, settings: Settings) -> Iterator[Document]:
    """Each paper once: the best of its files, a PDF only where there is no other."""
    by_stem: dict[str, list[Path]] = {}
    for path in sorted(
        path for path in folder.rglob("*") if path.is_file() and path.name != "README.md"
    ):
        if stem := stem_of(path.name):
            by_stem.setdefault(stem, []).append(path)
    for stem, paths in by_stem.items():
        path = min(paths, key=lambda one: (one.suffix == ".pdf", one.name))
        if path.suffix == ".json" and (text := json.loads(path.read_bytes()).get("text")):
            path = work / f"{stem}.txt"
            path.write_text(text, "utf-8")
            yield parse_text(RawFile(stem, path.name, path.read_bytes()), settings.parsing)
        else:
            try:
                known = sniff(path.name, path.read_bytes())
                yield parser_of(known)(
                    RawFile(stem, path.name, path.read_bytes()), settings.parsing
                )
            except RagAssetsError as error:
                print(f"{path.name} left out: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
