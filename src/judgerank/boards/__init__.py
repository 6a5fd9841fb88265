"""Boards that live on: a newcomer placed on one, and one compared with another."""
