"""Schemas of the configuration: an unknown key or a wrong type fails before anything is computed."""
