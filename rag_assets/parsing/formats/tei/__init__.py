"""TEI XML, as GROBID and scholarly editors write it; entry point: `document`.

`elements`      whether a file is TEI, how each element is read, and its coordinates
`structure`     reads the tree into blocks, with the help of `elements`, `floats` and `text`
`paging`        pages of all blocks, from `pages` (what proves a page)
"""
