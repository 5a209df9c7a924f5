"""DoclingDocuments, and files that docling itself can convert into one; entry point: `document`."""
