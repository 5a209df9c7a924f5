"""The vector index in a local Chroma database."""
