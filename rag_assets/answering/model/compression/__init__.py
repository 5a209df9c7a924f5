"""Shorter contexts for a model that is paid, or limited, by the token."""

from rag_assets.answering.model.compression.compressed_answerer import CompressedAnswerer

__all__ = ["CompressedAnswerer"]
