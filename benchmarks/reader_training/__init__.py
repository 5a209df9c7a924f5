"""Trains the weights of the sentence reader on questions about your own papers: see `__main__`.

The model that reads is in `rag_assets.reranking.trained_reader`, its file of weights in `reader_weights` beside it.
What the training shares with the product (candidates, tokens, limits, names) is imported from there.
"""
