"""Markdown, whole files (`document`) and the pieces that other formats hold (`parts`)."""
