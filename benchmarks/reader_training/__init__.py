"""Trains the weights of the sentence reader on questions about your own papers: see `__main__`.

The model that reads and its file of weights are in `rag_assets.search.reranking.trained_reader`.
What the training shares with the product (candidates, tokens, limits, names) is imported from
there.
"""
