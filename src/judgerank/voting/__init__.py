"""Human votes: a page on which people compare two answers without knowing whose they are."""
