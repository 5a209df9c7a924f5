"""Loads every code location of a workspace file as the UI does and validates its definitions.

    python -m rag_assets_tests.loadable_definitions workspace.yaml

Dagster's own command for this is superseded by one of a package that is not needed otherwise.
"""

import importlib
import sys
import warnings
from pathlib import Path

import dagster as dg
import yaml


def main(workspace: Path) -> int:
    warnings.simplefilter("error")
    for location in yaml.safe_load(workspace.read_text("utf-8"))["load_from"]:
        module = importlib.import_module(location["python_module"]["module_name"])
        dg.Definitions.validate_loadable(module.defs)
        n_assets = len(module.defs.resolve_asset_graph().get_all_asset_keys())
        sys.stdout.write(f"{location['python_module']['location_name']}: {n_assets} assets load\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
