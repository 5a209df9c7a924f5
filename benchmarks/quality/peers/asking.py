"""Questions put to a peer, as rows like those of the engine."""

import sys
import time
from collections.abc import Sequence

from benchmarks.quality.asking import BUDGETS
from benchmarks.quality.data_folders import BuiltFolder
from benchmarks.quality.measures import DEPTH, retrieval_measures
from benchmarks.quality.peers import PEERS
from benchmarks.quality.peers.base import Packing, Peer, PeerVectors, source_blocks
from benchmarks.quality.questions import AskedQuestion
from benchmarks.quality.runs import Row, Run, write_row

N_FOUND = 100
"""Pieces that may fill the largest budget."""


def ask_peer(
    run: Run, peer: str, set_name: str, questions: Sequence[AskedQuestion], built: BuiltFolder
) -> None:
    """Write the missing rows of one set; a peer whose library is not installed is told in a
    line."""
    folder = built.data.parents[2] / "peers" / set_name
    started = time.perf_counter()
    try:
        searching = PEERS[peer](source_blocks(built.settings), PeerVectors(built.settings, folder))
    except ImportError as error:
        print(f"{peer}: skipped, {error.name} is not installed", file=sys.stderr)
        return
    run.note(set_name, {"prepare_seconds": round(time.perf_counter() - started, 1)})
    packing, known = Packing(), run.rows(set_name)
    with run.open_rows(set_name) as lines:
        for question in questions:
            if question.id not in known:
                write_row(lines, _row(searching, packing, question))
    print(f"{run.name}, {set_name}: {len(questions)} questions", file=sys.stderr, flush=True)


def _row(peer: Peer, packing: Packing, question: AskedQuestion) -> Row:
    started, cpu_started = time.perf_counter(), time.process_time()
    found = peer.search(question.text, N_FOUND)
    seconds = {"clock": time.perf_counter() - started, "cpu": time.process_time() - cpu_started}
    contexts = {budget: packing.packed(found, budget) for budget in BUDGETS}
    return Row(
        question.id, question.text, question.group, question.half,
        retrieval_measures(question, found[:DEPTH], contexts), seconds,
    )  # fmt: skip
