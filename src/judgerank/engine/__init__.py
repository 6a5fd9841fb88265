"""Ways to maximise the likelihood: newton (exact, the default) and adam (the paper's Algorithm A.1)."""
