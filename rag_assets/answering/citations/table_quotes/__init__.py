"""Claims whose quotes are rows of tables: which cells a row has, and whether the claim says what they say."""
