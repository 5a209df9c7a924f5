"""Contexts become claims with verified citations.

    `pipeline`      evidence -> draft -> verified claims -> second look -> result
    a draft is made by one of two answerers (the interface is in `drafts`):
      `extractive`    sentences and table rows, word for word; needs no key
      `model`         a model behind an API writes; here are also its judges and thorough answers
    `verify`        drops claims whose quotes are not in the sources, or do not support them
    `promises`      what must hold of each answer before it is seen
    `records`       qa.jsonl and qa_audit.csv
    `wording`       answers as texts

`opening` opens the models that the settings name.
"""
