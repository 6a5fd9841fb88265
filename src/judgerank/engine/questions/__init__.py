"""Question effects: a random quality for every answer, shared by all judges of a question and integrated out."""
