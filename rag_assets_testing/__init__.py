"""What tests and benchmarks both need: servers that speak the providers' protocols, papers, and
small data folders.

Tests stay in `rag_assets_tests`; nothing here imports them. Neither package is in the wheel.
"""
