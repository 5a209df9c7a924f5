"""What a run costs when nothing changed, beside what Dagster alone costs for the same graph.

    python benchmarks/unchanged_run.py [--rounds 3] [--executor in-process]

The demo corpus is copied and materialized once. Then fresh processes alternate: the job
`everything` over the unchanged copy, and the same assets, dependencies and checks with empty
bodies, both with either executor. Correctness comes first: a run that fails, or an "unchanged" run
that changes a byte, gets no time. Seconds are those of the whole process, imports included. Last,
the import of `rag_assets.pipeline.definitions` beside that of `dagster` alone.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

DEMO = Path(__file__).parents[1] / "data"
GRAPH_VARIABLE = "UNCHANGED_RUN_GRAPH"
"""Names the file that tells the process with empty bodies what the graph is: it must not import
rag_assets."""
EXECUTOR_VARIABLE = "UNCHANGED_RUN_EXECUTOR"
MADE = ("cache", "index", "output", "logs")
EXECUTORS = {"in-process": dg.in_process_executor, "multiprocess": dg.multiprocess_executor}
INSTANCE_CONFIG = "telemetry:\n  enabled: false\n"


@dataclass(frozen=True)
class Contender:
    """One way to run the graph."""

    what: str
    executor: str

    @property
    def name(self) -> str:
        return f"{self.what}, {self.executor}"


@dataclass(frozen=True)
class Cost:
    """What one process cost, with the processes it started."""

    wall_s: float
    cpu_s: float


OURS, EMPTY = "everything, unchanged", "empty bodies"


def everything() -> dg.JobDefinition:
    """The project's job with the executor of this process."""
    from rag_assets.core.settings import load_settings
    from rag_assets.pipeline.assets.automation import EVERYTHING, everything_job
    from rag_assets.pipeline.assets.resources import (
        run_engine,
        run_models,
        run_settings,
        run_workforce,
    )
    from rag_assets.pipeline.definitions import ASSETS

    definitions = dg.Definitions(
        assets=ASSETS,
        jobs=[everything_job],
        resources={
            "settings": run_settings(load_settings()),
            "models": run_models,
            "workforce": run_workforce,
            "engine": run_engine,
        },
        executor=EXECUTORS[os.environ[EXECUTOR_VARIABLE]],
    )
    return definitions.resolve_job_def(EVERYTHING)


def empty_bodies() -> dg.JobDefinition:
    """Assets of the same names, dependencies and checks that do nothing but say so."""
    graph = json.loads(Path(os.environ[GRAPH_VARIABLE]).read_text())
    job = dg.define_asset_job("everything", selection=dg.AssetSelection.all())
    definitions = dg.Definitions(
        assets=[empty_asset(name, **facts) for name, facts in graph.items()],
        jobs=[job],
        executor=EXECUTORS[os.environ[EXECUTOR_VARIABLE]],
    )
    return definitions.resolve_job_def("everything")


def empty_asset(name: str, deps: list[str], checks: list[str]) -> dg.AssetsDefinition:
    """One asset without a body."""

    @dg.asset(
        name=name,
        deps=deps,
        check_specs=[dg.AssetCheckSpec(check, asset=name, blocking=True) for check in checks],
        output_required=False,
    )
    def body() -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
        for check in checks:
            yield dg.AssetCheckResult(check_name=check, passed=True, metadata={"n_offenders": 0})
        counts = dict.fromkeys(
            ("n_added", "n_changed", "n_removed", "n_unchanged", "dagster/row_count"), 0
        )
        yield dg.MaterializeResult(data_version=dg.DataVersion("same"), metadata=counts)

    return body


JOBS = {OURS: everything, EMPTY: empty_bodies}


def project_graph() -> dict[str, dict[str, list[str]]]:
    """Names, dependencies and checks of the project's assets."""
    from rag_assets.pipeline.definitions import build_defs

    graph = build_defs().resolve_asset_graph()
    made = graph.materializable_asset_keys
    return {
        key.to_user_string(): {
            "deps": sorted(parent.to_user_string() for parent in graph.get(key).parent_keys & made),
            "checks": sorted(check.name for check in graph.get_check_keys_for_assets({key})),
        }
        for key in graph.toposorted_asset_keys
        if key in made
    }


def run_here(what: str) -> None:
    """Execute a job in this process; raises if it fails."""
    with dg.DagsterInstance.get() as instance:
        dg.execute_job(
            dg.reconstructable(JOBS[what]),
            instance=instance,
            raise_on_error=True,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )


def cost_of(command: Sequence[str], environment: dict[str, str]) -> Cost:
    """Run a fresh process; if it fails, everything ends with what it wrote."""
    environment.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # or each process would compile all modules again
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed, so no time means anything:\n{done.stderr}")
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def cost_of_run(contender: Contender, root: Path) -> Cost:
    home = root / f"home of {contender.name}"
    home.mkdir(exist_ok=True)
    (home / "dagster.yaml").write_text(INSTANCE_CONFIG)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "RAG_ASSETS_DATA_DIR": str(root / "data"),
        GRAPH_VARIABLE: str(root / "graph.json"),
        EXECUTOR_VARIABLE: contender.executor,
    }
    return cost_of([__file__, "--run", contender.what], environment)


def bytes_of(data: Path) -> str:
    """One hash over everything that was made."""
    digest = hashlib.sha256()
    for folder in MADE:
        for file in sorted(path for path in (data / folder).rglob("*") if path.is_file()):
            digest.update(
                f"{file.relative_to(data)}\0{file.stat().st_size}\0".encode() + file.read_bytes()
            )
    return digest.hexdigest()


def run_costs(
    contenders: Sequence[Contender], root: Path, n_rounds: int
) -> dict[Contender, list[Cost]]:
    """Contenders alternate, after one run each that makes the data and the history."""
    costs: dict[Contender, list[Cost]] = {contender: [] for contender in contenders}
    for contender in contenders:
        cost_of_run(contender, root)
    made = bytes_of(root / "data")
    for _ in range(n_rounds):
        for contender in contenders:
            costs[contender].append(cost_of_run(contender, root))
    if bytes_of(root / "data") != made:
        raise SystemExit("An unchanged run changed a file: no time means anything.")
    return costs


def import_costs(n_rounds: int) -> dict[str, list[Cost]]:
    modules = ("rag_assets.pipeline.definitions", "dagster")
    costs: dict[str, list[Cost]] = {module: [] for module in modules}
    for counts in [
        False,
        *[True] * n_rounds,
    ]:  # the first round fills the caches of the file system
        for module in modules:
            cost = cost_of(["-c", f"import {module}"], dict(os.environ))
            costs[module] += [cost] if counts else []
    return costs


def row(name: str, costs: Sequence[Cost], base: Sequence[Cost]) -> str:
    """Medians, and how many times the base's time: median and worst round."""
    ratios = [cost.wall_s / other.wall_s for cost, other in zip(costs, base, strict=True)]
    wall, cpu = (
        statistics.median(getattr(cost, what) for cost in costs) for what in ("wall_s", "cpu_s")
    )
    return (
        f"{name:<38} {wall:>7.2f} {cpu:>7.2f} {statistics.median(ratios):>9.2f} {max(ratios):>9.2f}"
    )


def measure(n_rounds: int, executors: Sequence[str]) -> None:
    contenders = [Contender(what, executor) for executor in executors for what in (OURS, EMPTY)]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(DEMO, root / "data", ignore=shutil.ignore_patterns(*MADE, ".*"))
        (root / "graph.json").write_text(json.dumps(project_graph()))
        costs = run_costs(contenders, root, n_rounds)
    print(f"{'process':<38} {'wall s':>7} {'CPU s':>7} {'x Dagster':>9} {'worst':>9}")
    for contender in contenders:
        print(row(contender.name, costs[contender], costs[Contender(EMPTY, contender.executor)]))
    imports = import_costs(n_rounds)
    for module in imports:
        print(row(f"import {module}", imports[module], imports["dagster"]))
    print(
        f"\n{n_rounds} rounds, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"dagster {importlib.metadata.version('dagster')}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds of every contender")
    parser.add_argument(
        "--executor", choices=EXECUTORS, action="append", help="only this one; repeatable"
    )
    parser.add_argument("--run", choices=JOBS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run_here(arguments.run)
    else:
        measure(arguments.rounds, arguments.executor or list(EXECUTORS))


if __name__ == "__main__":
    main()
