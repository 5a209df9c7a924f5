"""Exports of Landing AI's Agentic Document Extraction, in three shapes of JSON; entry point:
`document`."""
