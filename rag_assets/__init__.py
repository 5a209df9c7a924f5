"""Scientific papers in, grounded page-cited answers out: an incremental Dagster pipeline.

The names below are imported when they are first used, so that importing the package, or a part of
it, costs nothing. Every process of it, workers and the Dagster UI included, begins here: libraries
that report how they are used are told not to, before they are imported.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_assets.core.settings import Settings, load_settings
    from rag_assets.engine import Engine, open_engine

os.environ.update(
    ORT_DISABLE_TELEMETRY="1",  # onnxruntime, which asks when it is imported
    DAGSTER_DISABLE_TELEMETRY="1",  # whatever a dagster.yaml says
    DO_NOT_TRACK="1",  # huggingface_hub, which fastembed uses
)

__all__ = ["Engine", "Settings", "load_settings", "open_engine"]

_MODULES = {
    "Engine": "rag_assets.engine",
    "open_engine": "rag_assets.engine",
    "Settings": "rag_assets.core.settings",
    "load_settings": "rag_assets.core.settings",
}

if not TYPE_CHECKING:  # a type checker would take any name for one of this module

    def __getattr__(name: str) -> object:
        """Import a name of `__all__` (PEP 562)."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
