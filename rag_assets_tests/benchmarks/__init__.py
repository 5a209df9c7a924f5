"""The arithmetic of the benchmarks: a wrong figure there chooses a wrong default here."""
