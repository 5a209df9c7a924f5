"""Starting runs outside the Dagster UI: the command line's runs, their history, interruption, and
the UI itself."""
