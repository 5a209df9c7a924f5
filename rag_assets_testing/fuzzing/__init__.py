"""Mutated and random papers through parser, chunker and passages."""
