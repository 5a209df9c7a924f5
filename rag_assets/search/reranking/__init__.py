"""A closer look at the best candidates of a search: late interaction, cross-encoders, and models
behind an API."""
