"""Vectors and texts become indexes.

`protocols`     what an index is; `stores`: which one the settings name
`folders`       brings an index in step with the passages, beside the published one
vectors: `exact_vectors`, `chroma`, `qdrant`; words: `tantivy_index`
"""
