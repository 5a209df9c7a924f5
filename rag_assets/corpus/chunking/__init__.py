"""A document becomes chunks (what is cited) and passages (what is searched).

    blocks -> `units` (sentences, rows, ...) -> `sections` (runs of units) -> `planned_chunks`
    (runs counted, cut and merged) -> `chunker` (chunks) -> `passages`

`cuts` decides where a run is cut, `promises` checks the result.
"""
