"""Tests of reading what a model replied."""
