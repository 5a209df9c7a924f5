"""Tools for several formats: headings, running headers, cut words,
tables."""
