"""Judges asked by their providers' batch interfaces: answers within a day, at a part of the price."""
