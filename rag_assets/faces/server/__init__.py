"""The HTTP face of the engine: routes, access checks, limits and errors; the page is served beside it.

What is asked and read is decided in `engine`, `reading`, `conversations` and `paper_uploads`; a route parses, calls one
of them and renders.
"""

from rag_assets.faces.server.app import create_app

__all__ = ["create_app"]
