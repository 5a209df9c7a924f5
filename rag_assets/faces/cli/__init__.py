"""rag-assets: the pipeline from the command line, with the settings, runs and history of the
Dagster UI."""

from rag_assets.faces.cli.main import app

__all__ = ["app"]
