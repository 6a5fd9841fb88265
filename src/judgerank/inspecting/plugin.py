"""What inspect_ai finds of judgerank by the entry point ``inspect_ai``: ``judgerank/pairwise``."""

from judgerank.inspecting.panel_scorer import pairwise
from judgerank.inspecting.stopping import PanelStopping

__all__ = ["PanelStopping", "pairwise"]
