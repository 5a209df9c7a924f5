"""Passages in Qdrant: a server, or the storage that its client keeps inside this process."""
