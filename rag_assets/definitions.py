"""What Dagster loads: the definitions of the pipeline."""

from rag_assets.pipeline.definitions import defs

__all__ = ["defs"]
