"""Pages for a document without them, or with some, from the PDF of the same paper.

Way in: `document`.
"""
