"""A quality of its own for every answer, shared by all judges of a question and integrated out."""
