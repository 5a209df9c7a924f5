"""Verifies that the quotes of a claim occur in their sources and support the claim."""
