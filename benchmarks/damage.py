"""Damages every file that a run makes in five ways, one by one, and shows what a question and the next run make of it.

python benchmarks/damage.py [--only WORD]: builds a small corpus, then for each file and each kind of damage: a question
beside it, one run, and a comparison of everything published with the undamaged corpus. Some 200 cases of about 3 s.
"""

import argparse
import logging
import os
import shutil
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("HF_HUB_OFFLINE", "1")


from rag_assets.engine import open_engine
from rag_assets.errors import RagAssetsError
from rag_assets.settings import Settings
from rag_assets_tests.end_to_end.damage import KINDS, made_files, state
from rag_assets_tests.end_to_end.world import FLOORS_OFF, QUESTIONS, TOPICS, World

PINNED = {"chunking": {"tokenizer": "auto"}}
QUESTION = str(QUESTIONS[0]["question"])


def main() -> None:
    """One line per case that did not end right, then the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="files whose path has this word")
    only = parser.parse_args().only
    logging.getLogger("rag_assets").addHandler(logging.NullHandler())
    logging.getLogger("rag_assets").propagate = False
    with TemporaryDirectory() as root:
        world = _built(Path(root) / "whole")
        wanted, answer, counts = state(world), _asked(world), Counter[str]()
        for name in made_files(world):
            for kind in KINDS if only in name else ():
                damaged = world.copy_to(Path(root) / "damaged")
                kind(damaged.paths.data / name)
                outcomes = _beside(damaged, answer), _after(damaged, wanted)
                counts.update(outcomes)
                if outcomes[1] != "run: right":
                    sys.stdout.write(f"{kind.__name__} {name}: {outcomes}\n")
                    sys.stdout.flush()
                shutil.rmtree(Path(root) / "damaged")
    for outcome, n_cases in sorted(counts.items()):
        sys.stdout.write(f"{n_cases} {outcome}\n")


def _built(root: Path) -> World:
    world = World(root)
    for paper_id, (title, fact) in TOPICS.items():
        world.write_paper(paper_id, title, fact)
    world.write_questions(QUESTIONS)
    outcome = world.run(**PINNED)
    if not outcome.is_success:
        sys.exit(f"the corpus could not be built: {outcome.failures or outcome.broken}")
    return world


def _asked(world: World) -> object:
    settings = Settings.model_validate({"data_dir": world.paths.data, **PINNED, **FLOORS_OFF})
    with open_engine(settings) as engine:
        return engine.trace(QUESTION).result.claims


def _beside(world: World, answer: object) -> str:
    try:
        found = _asked(world)
    except RagAssetsError as error:
        return "ask: says what to run" if "rag-assets" in str(error) else f"ask: {error}"
    return "ask: the same answer" if found == answer else "ask: another answer"


def _after(world: World, wanted: dict[str, object]) -> str:
    outcome = world.run(**PINNED)
    if not outcome.is_success:
        return f"run: failed {outcome.failures or outcome.broken}"
    found = state(world)
    return "run: right" if found == wanted else f"run: differs in {[k for k in wanted if found.get(k) != wanted[k]]}"


if __name__ == "__main__":
    main()
