"""May a change ship? The decision from a panel's judgments of two variants."""
