"""Texts to vectors: the models, and a cache that embeds no text twice. Importing loads no model."""
