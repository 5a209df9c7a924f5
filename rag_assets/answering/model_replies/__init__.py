"""Reading what a model replied, well formed or not."""
