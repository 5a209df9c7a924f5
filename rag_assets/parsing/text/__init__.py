"""Plain text.

Way in: `document`.
"""
