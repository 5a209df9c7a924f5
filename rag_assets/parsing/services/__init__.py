"""Servers that read PDFs better than our own reader, GROBID and Docling. Nothing is sent unless a setting names one."""
