"""What a reader looks at: the papers, their sections and pages, and where a quoted sentence stands on its page.

Way in: `reader`. Nothing is imported here, because the worker processes import `page_rendering` and `page_search`.
"""
