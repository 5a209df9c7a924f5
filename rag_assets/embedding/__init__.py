"""Texts become vectors: models behind one protocol, and a content-addressed cache."""
