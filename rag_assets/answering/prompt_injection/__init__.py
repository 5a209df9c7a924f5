"""Keeps text of papers from steering the model that reads it."""
