"""DoclingDocuments, and files that docling itself can convert into one.

Way in: `document` and `convert`.
"""
