"""The HTTP face of the engine: routes, access checks, limits and errors; the page is served beside
it.

The decisions are made in `engine`, `library` and `questions`; a route parses, calls one of them and
renders.
"""
