"""Everything beyond the paper: sections of our own, other methods, adverse cases, speed."""
