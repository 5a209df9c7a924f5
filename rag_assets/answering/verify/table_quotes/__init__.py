"""Verifies claims whose quotes are rows of tables: the cells of a row, and whether the claim says what they say."""
