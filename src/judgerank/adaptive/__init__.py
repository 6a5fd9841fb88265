"""Collecting by rounds: what to ask next for the most information a cost, and when enough is known to stop."""
