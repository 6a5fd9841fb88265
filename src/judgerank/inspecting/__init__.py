"""Inside inspect_ai: a scorer by a panel that compares answers in pairs, and stopping that holds its level."""
