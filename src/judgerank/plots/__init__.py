"""How tables become figures. Nothing here computes a result or draws a random number."""

from dataclasses import dataclass

# Rectangles and texts: all that a card is made of, in pixels from the upper left corner.


@dataclass(frozen=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True)
class Label:
    """A line of text on its base line, which begins at x, or ends there."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    bold: bool = False
    end: bool = False


Shape = Box | Label
