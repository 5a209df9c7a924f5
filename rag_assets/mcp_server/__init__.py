"""The corpus as tools of the Model Context Protocol (MCP), for assistants that check what papers say.

A tool parses its arguments, calls `engine` or `reading`, and renders text. `asking` has the tools that search and
answer, `rendering` writes results, `tool_errors` says what went wrong and what to do, `transports` serves them.
"""
