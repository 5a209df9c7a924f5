"""TEI XML, as GROBID and scholarly editors write it.

Way in: `document`.
"""
