"""The corpus as tools of the Model Context Protocol (MCP), for assistants that check what papers say.

A tool parses its arguments, calls `engine` or `reading`, and renders text. `asking` has the tools that search and
answer, `looking_up` those that read and check; `rendering` and `looked_up` write their results, `tool_errors` says what
went wrong and what to do, `transports` serves them all.
"""
