"""Tests of the conversations package."""
