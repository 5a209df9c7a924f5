"""One sentence per chunk, written by a model, that says what the chunk is about: searched with it,
never quoted."""
