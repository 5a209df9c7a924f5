"""What a Dask worker runs: a batch of items in a killable process of its own."""

import hashlib
import platform
import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from rag_assets.core.workforce.processes import KillableWorker
from rag_assets.core.workforce.worker_process import Limits

_PACKAGE = "rag_assets"
_NAME = re.compile(r"[\w.-]+")
"""Name at the start of a requirement."""
_own = threading.local()
"""The process of each thread of a Dask worker: it serves one task after the other."""


def run_batch(
    messages: Sequence[bytes], limits: Limits | None, versions: Mapping[str, str]
) -> list[Any] | str:
    """What became of each item, see `message_of`; or how this machine differs, when it has other
    versions.

    versions: `installed_versions` of the sender.
    """
    here = installed_versions()
    differing = sorted(
        name for name in versions.keys() | here.keys() if versions.get(name) != here.get(name)
    )
    if differing:
        name = differing[0]
        return f"{platform.node()} has {name} {here.get(name, 'not')}, this run has {versions.get(name, 'none')}"
    if not hasattr(_own, "worker"):
        _own.worker = KillableWorker()
    return [_own.worker.run(message, limits) for message in messages]


@cache
def installed_versions() -> dict[str, str]:
    """Whatever changes a result: Python, the packages this one needs, by name, and the code of this
    one."""
    needed = [
        requirement
        for requirement in metadata.requires(_PACKAGE) or ()
        if "extra ==" not in requirement
    ]
    names = sorted({name[0] for requirement in needed if (name := _NAME.match(requirement))})
    code = hashlib.sha256()
    root = Path(__file__).parents[2]
    for path in sorted(root.rglob("*.py")):
        code.update(str(path.relative_to(root)).encode() + path.read_bytes())
    versions = {name: metadata.version(name) for name in names}
    python = ".".join(platform.python_version_tuple()[:2])
    return {
        _PACKAGE: f"{metadata.version(_PACKAGE)} ({code.hexdigest()[:12]})",
        "python": python,
    } | versions
