"""TEI XML, as GROBID and scholarly editors write it; entry point: `document`.

`sniffing`      whether a file is TEI
`structure`     reads the tree into blocks, with the help of `elements`, `floats` and `text`
`paging`        pages of all blocks, from `pages` (what proves a page) and `coords`
"""
