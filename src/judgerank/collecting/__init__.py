"""Collecting judgments from LLM judges: what to ask, how, of whom, and keeping every answer (appendix E)."""
