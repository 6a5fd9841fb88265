"""Human votes: a page for blind comparison of two answers."""
