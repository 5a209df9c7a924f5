"""TEI XML, as GROBID and scholarly editors write it; entry point: `document`.

`sniffing`      whether a file is TEI
`structure`     the walk over the tree; it reads `elements`, `floats` and collects `text`
`paging`        pages of all blocks, from `pages` (proofs per block) and `coords`
"""
