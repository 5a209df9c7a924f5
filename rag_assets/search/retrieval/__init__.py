"""A question becomes ranked hits and packed contexts.

    `queries`       question -> parts, and other wordings of each
    `ranking`       passages that the indexes find, with one score (`fusion`), best first after
                    names, filters and the reranker
    `search`        hits, and which passages are read
    `packing`       passages -> contexts

Before and beside it: `opening` opens the indexes, `library` holds passages and papers, `filtering`
applies filters, `elements` finds "Figure 2". Four modules know papers by what a text says of them:

    `known_papers`    by an identifier or the whole title; the question is then asked of that paper
    `paper_names`     by words of its name, "Activision 2019"; its passages rank higher
                      (`question_names`: the sections, too)
    `named_works`     by authors, year and subject, in a question about works
    `cited_works`     works that a paper only cites
"""
