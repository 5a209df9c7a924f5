"""PDF files through PDFium, without a model; entry point: `document`.

file            the opened PDF and its outline
glyphs, text    characters of a page -> segments: words on one line without a wide gap
  drawings        its rules and pictures
  line_numbers    numbers in a margin, left out
  ocr             the text of a page that is an image
layout          segments -> lines in reading order, column by column
tables          lines of tables and figures -> one line for each
  table_regions   where a table is
  table_grid      its cells: from table_columns, table_headers and table_rows
blocks          lines -> groups of lines: paragraphs, list items, tables, possible headings
headings        which groups are headings
sections        how deep they are; title page, abstract, body, reference list or appendix
assembly        groups -> blocks of the document
  captions        the table that each caption belongs to
"""
