"""Access to models behind an API: keys, connections, limits, faults, budgets.

What is asked of such a model, and what is believed of its reply, is decided where it is used (`answering`,
`embedding`). Importing this package imports no SDK.
"""
