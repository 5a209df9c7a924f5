"""PDF files through PDFium: from glyphs to lines, from lines to blocks.

Way in: `document`; `file` and `pages` also serve the alignment of other formats.
"""
