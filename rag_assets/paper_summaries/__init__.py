"""What each paper asked, did and found, and what limits it, in verified words of a model with their pages.

`summarizers` asks about one paper, `update` keeps those of all papers up to date. They are no `rag_assets.summaries`,
which are a model's words about a chunk and only searched.
"""
