"""Tests of the access to models behind an API, against local servers that speak the providers'
protocols."""
