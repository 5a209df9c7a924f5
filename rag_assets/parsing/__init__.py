"""A file becomes a Document: one package a format, one registry that sniffs content.

Way in: `corpus` (the update of the parsed index and of the blocks), `discovery` (which files there are). Nothing is
imported here, because parse workers import from this package and pay for every import.
"""
