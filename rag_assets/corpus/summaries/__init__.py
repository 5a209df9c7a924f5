"""One sentence per chunk, written by a model, that says what the chunk is about. It is searched
together with the chunk, and never quoted."""
