"""One bibliographic record per paper: where it comes from, and how papers are cited by it."""
