"""Verifies that the quotes of a claim stand in their sources, and that they hold what the claim says."""
