"""A question becomes ranked hits and packed contexts."""
