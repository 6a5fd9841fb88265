"""Comparisons and judgments, and what can be computed from them without a model."""

# Units of sampling by name: judgments of one such unit may depend on each other.

QUESTION = "question"  # whatever its column is called
UNITS = ("category", "conversation", "conversation_id", "template", "source")  # columns that may be units, too
