"""Pages as single HTML files that need nothing beside them: a frame, tables that sort and search, charts."""

from judgerank.pages.frame import render
from judgerank.pages.tables import Column, Shown, shown

__all__ = ["Column", "Shown", "render", "shown"]
