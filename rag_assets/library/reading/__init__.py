"""Reading papers: the list of them, their sections and pages, and the place of a quoted sentence on
its page.

Way in: `reader`. Nothing is imported here, because the worker processes import `pages`.
"""
