"""Reads numbers as papers write them: digits, words, powers, units. Whatever compares numbers reads
them here."""
