"""Which models are better, for pairs and for all at once."""
