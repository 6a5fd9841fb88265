"""Other ways to rank models from the same comparisons, each a function that returns a `ranking.Ranking`."""
