"""How papers are written, whatever file they come in: headings, running headers, cut words, tables.

A format uses what its source does not state by itself. What only one format needs lives with that format.
"""
