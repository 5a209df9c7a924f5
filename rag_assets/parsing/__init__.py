"""A file becomes a Document: one package per format, and a registry that tells the format of a file
by its content.

Entry points: `discovery` and `paper_lists` (which papers there are), `corpus` (the parsed index and
the blocks). Nothing is imported here, because parse workers import from this package and each pays
for every import.
"""
