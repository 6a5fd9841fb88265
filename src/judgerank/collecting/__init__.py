"""Collect judgments from LLM judges and keep every answer (appendix E)."""
