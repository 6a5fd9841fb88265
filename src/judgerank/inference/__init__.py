"""What a fit says of its parameters: estimates, and how sure they are."""
