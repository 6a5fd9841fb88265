"""How many comparisons, judges and repeats a wanted precision takes."""
