"""TEI XML, as GROBID and scholarly editors write it; entry point: `document`."""
