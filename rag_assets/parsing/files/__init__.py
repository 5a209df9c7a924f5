"""Reading untrusted files safely: size, encoding, JSON and XML within limits.

What the content means is the formats' matter.
"""
