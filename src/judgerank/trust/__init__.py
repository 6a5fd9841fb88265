"""How far a ranking can be trusted: what would change it, and how many independent judges its panel amounts to."""
