"""Commands that measure; each prints what its docstring says."""
