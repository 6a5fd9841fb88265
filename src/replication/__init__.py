"""The paper's study: its data, sections, tables and figures, and what goes beyond them."""
