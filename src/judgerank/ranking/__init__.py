"""A ranking of one's own models: the tables, what to know first, what to collect next, the page."""
