"""Reads the replies of models: well-formed or not, and what of their texts is published."""
