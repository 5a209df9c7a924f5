"""Small faults in the package, each with the test that has to see it."""
