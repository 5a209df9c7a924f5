"""Works that a paper cites: the entries of its reference list, and where its text refers to
them."""
