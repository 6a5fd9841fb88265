"""What colours and markers mean, the same in every figure.

A colour is a model of judgments or a data set; any other series has a shade of one hue, dark to light. A variant
of a model (another estimator, another target) keeps its colour and is hollow or dashed. The colours stay distinct
under the three kinds of colour blindness, and those of one family in grey print.
"""

from __future__ import annotations

COLOURS = {
    # models of judgments; with positions, lighter
    "judge_aware": "#0064A8",
    "btl": "#D55E00",
    "position_aware": "#56B4E9",
    "position_only": "#F0B429",
    # data sets
    "mt_bench": "#0F4113",
    "ultrafeedback": "#932774",
    "chatbot_arena": "#BDCC60",
    "in_house": "#579F87",
    # nominal levels, zero, equality
    "reference": "#7F7F7F",
    # what the paper printed
    "printed": "#000000",
}
MODELS = ("judge_aware", "btl", "position_aware", "position_only")
DATA_SETS = ("mt_bench", "ultrafeedback", "chatbot_arena", "in_house")
MARKERS = {
    "judge_aware": "o",
    "btl": "s",
    "position_aware": "D",
    "position_only": "^",
    "mt_bench": "o",
    "ultrafeedback": "D",
    "chatbot_arena": "^",
    "in_house": "s",
    "printed": "^",
}
NAMES = {
    "judge_aware": "judge-aware",
    "btl": "unweighted BTL",
    "position_aware": "position-aware",
    "position_only": "BTL with positions",
    "mt_bench": "MT-Bench",
    "ultrafeedback": "UltraFeedback",
    "chatbot_arena": "Chatbot Arena",
    "in_house": "In-house data",
}
DARKEST, LIGHTEST = (0x2D, 0x00, 0x4B), (0xB3, 0x94, 0xDB)
SHADE_MARKERS = ("o", "s", "D", "^", "v", "P", "X")


def shades(n: int) -> list[tuple[str, str]]:
    """Colour and marker of each of `n` series that are neither models nor data sets, dark to light.

    Raises
    ------
    ValueError
        If there are more series than markers.
    """
    if n > len(SHADE_MARKERS):
        raise ValueError(f"a figure can show {len(SHADE_MARKERS)} series at most, not {n}")
    steps = [number / max(n - 1, 1) for number in range(n)]
    mixed = [tuple(round(a + t * (b - a)) for a, b in zip(DARKEST, LIGHTEST, strict=True)) for t in steps]
    return [
        ("#{:02X}{:02X}{:02X}".format(*rgb), marker) for rgb, marker in zip(mixed, SHADE_MARKERS, strict=False)
    ]
