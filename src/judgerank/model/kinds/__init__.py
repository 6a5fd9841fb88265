"""The blocks there are, one module each: its function `block` takes names of columns and returns blocks."""
