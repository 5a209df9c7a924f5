"""The embedded answerer: what the papers say, word for word, chosen without a model that writes."""

from rag_assets.answering.extractive.answerer import EXTRACTIVE_VERSION, ExtractiveAnswerer

__all__ = ["EXTRACTIVE_VERSION", "ExtractiveAnswerer"]
