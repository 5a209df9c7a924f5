"""Reads numbers as papers write them: digits, words, powers, units. All code that compares numbers
of texts reads them here."""
