"""Judgments from files and tables of others."""
