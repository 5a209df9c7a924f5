"""Tests of text that others wrote."""
