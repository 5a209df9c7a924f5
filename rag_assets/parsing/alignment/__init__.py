"""Pages for a document without them, from the PDF of the same paper.

Way in: `pages`.
"""
