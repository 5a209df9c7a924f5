"""Exports of Landing AI's Agentic Document Extraction, in the three shapes of JSON it had over time.

Way in: `document`.
"""
