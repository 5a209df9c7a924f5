"""PDF files through PDFium: from glyphs to lines, from lines to blocks; entry point: `document`."""
