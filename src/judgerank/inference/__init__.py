"""Estimates of a fit and their uncertainty."""
