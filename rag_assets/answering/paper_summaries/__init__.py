"""What each paper asked, did and found, and what limits it, in verified words of a model with their pages.

`summarizers` asks about one paper, `update` keeps those of all papers up to date. Not to be confused with
`rag_assets.corpus.summaries`: one generated sentence per chunk, which is only searched.
"""
