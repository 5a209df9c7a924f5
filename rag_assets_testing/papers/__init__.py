"""Papers of each format, written for tests and benchmarks."""
