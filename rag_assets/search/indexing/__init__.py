"""Vectors and texts become indexes: stores behind two small protocols."""
