"""Text that others wrote, papers and models, made fit to stand beside our own."""
