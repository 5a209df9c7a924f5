"""A document becomes chunks (what is cited) and passages (what is searched)."""
