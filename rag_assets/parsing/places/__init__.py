"""Pages for a document without them, or with some, from the PDF of the same paper.

Way in: `document`. The PDF is read as its format reads it, with the same settings.
"""

ALIGNMENT_VERSION = 1
"""Raise it when the same document and PDF give other pages; only papers that have pages from a PDF
are made anew."""
