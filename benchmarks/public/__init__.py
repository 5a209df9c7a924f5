"""Public benchmarks as papers and question files of a data folder."""
