"""What may have been sampled, by name: judgments of one such unit may depend on each other."""

from __future__ import annotations

QUESTION = "question"  # whatever its column is called
UNITS = ("category", "conversation", "conversation_id", "template", "source")  # columns that may be units, too
