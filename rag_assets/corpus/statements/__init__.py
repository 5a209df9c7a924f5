"""Blocks become statements: sentences, table rows, list items, lines and captions."""
