"""DoclingDocuments (`document`), and files that docling itself can convert into one (`convert`)."""
