"""Measures answers: compares them with what the question files expect, as metrics."""
