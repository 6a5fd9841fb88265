"""A description fitted to comparisons, and everything that can be asked of the result."""
