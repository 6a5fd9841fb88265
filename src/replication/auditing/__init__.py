"""Verdicts on every printed number, findings, and the page that tells of both."""
