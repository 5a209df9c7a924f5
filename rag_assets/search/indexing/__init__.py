"""Vectors and texts become indexes.

`protocols`   what an index is; `stores`: which index the settings name
`folders`     updates an index as a copy beside the published one
vectors: `exact_vectors`, `chroma`, `qdrant`; words: `tantivy_index`
"""
