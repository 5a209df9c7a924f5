"""Compares the best candidates of a search with the question more closely: late interaction,
cross-encoders, and the reader of sentences."""
