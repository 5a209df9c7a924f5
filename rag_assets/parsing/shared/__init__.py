"""How papers are written, whatever file they come in: headings, running headers, cut words,
tables."""
