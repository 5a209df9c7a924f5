"""Tests of the summaries of chunks."""
