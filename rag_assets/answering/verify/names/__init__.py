"""Proper names, acronyms, codes and drugs of a text, and which of them another text does not have in any spelling."""
