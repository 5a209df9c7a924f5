"""Turns texts into vectors: the models, and a cache so that no text is embedded twice. Importing
this package loads no model.

    `providers`     which adapter a setting `provider:model` means; adapters share `base`
      `local_model`, `fastembed_model`, `hosted_models`
    `vector_cache`  the stored vectors of passages; `token_vectors`: those of their tokens
    `missing_vectors`: makes the vectors that the cache lacks, in batches, in workers
    built here: `onnx_graph`, and `packed_model` for multilingual-e5-small
"""
