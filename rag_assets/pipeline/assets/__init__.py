"""Dagster only: assets and their checks, thin over the domain packages."""
