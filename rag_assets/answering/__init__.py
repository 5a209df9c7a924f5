"""Contexts become claims with verified citations."""
