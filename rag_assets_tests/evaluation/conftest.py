"""The built world of the end-to-end tests."""

from rag_assets_tests.end_to_end.conftest import built, world

__all__ = ["built", "world"]
