"""How tables become figures. Nothing here computes a result or draws a random number."""
