"""Access to models behind an API: providers, keys, connections, limits, faults, prices, budgets.

What a model is asked and how its reply is checked is decided in `answering` and `embedding`.
Importing this package imports no SDK.
"""
