"""Texts to vectors: the models, and a cache that embeds no text twice. Importing loads no model.

`providers`     which adapter a setting `provider:model` means; they share `base`
  `local_model`, `fastembed_model`, `hosted_models`
  `sparse_vectors`, `token_vectors`: other vectors of the same texts
`vector_cache`  what is kept of passages; `token_store`: of their tokens
`missing_vectors`, `work`: making what the cache lacks, batch by batch, in workers
built here: `bert`, `onnx_graph`, and `packed_model` with `unigram` for multilingual-e5-small
"""
