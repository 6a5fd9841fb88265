"""The description of a fit: blocks of parameters, the members made of them, and the law of an answer."""
