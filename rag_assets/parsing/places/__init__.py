"""Adds page numbers from the PDF of the same paper to a document that has none, or gaps.

Entry point: `document`. The PDF is read as `parsing.formats.pdf` reads it, with the same settings.
"""

ALIGNMENT_VERSION = 1
"""Raise it when a change of the code gives other pages for the same document and PDF."""
