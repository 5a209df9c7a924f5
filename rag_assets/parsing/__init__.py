"""A file becomes a Document: one module a format, one registry that sniffs content."""
