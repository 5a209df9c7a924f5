"""Tests of quotes and numbers held against their sources."""
