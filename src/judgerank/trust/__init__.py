"""How far a ranking can be trusted: what would change it, and how many judges its panel is worth."""
