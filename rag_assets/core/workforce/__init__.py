"""Where the work on papers is done: in processes of this machine (`processes`) or of a Dask cluster
(`cluster`); `workforce` has the interface of both.

What is done, and what becomes of it, is known by the stages. Nothing is imported here, because
workers import from this package and each pays for every import.
"""
