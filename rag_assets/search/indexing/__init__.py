"""Vectors and texts become indexes.

`protocols`     what an index is; `stores`: which one the settings name
`builder`       brings an index in step with the passages, in `folders`
vectors: `exact_vectors`, `chroma`, `qdrant`; words: `tantivy_index`
"""
