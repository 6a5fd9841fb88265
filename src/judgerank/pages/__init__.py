"""Pages as single HTML files that need nothing beside them: a frame, tables that sort and search."""

from judgerank.pages.frame import Cell, Column, Shown, render, shown

__all__ = ["Cell", "Column", "Shown", "render", "shown"]
