"""Tests of what papers say to the models that read them."""
