"""Pages as single HTML files that need nothing beside them: a frame, tables that sort and search."""

from judgerank.pages.frame import render
from judgerank.pages.sortable import Cell, Column, Shown, shown

__all__ = ["Cell", "Column", "Shown", "render", "shown"]
