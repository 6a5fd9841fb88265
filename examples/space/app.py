"""A Hugging Face Space: drop a file of judgments, see the page that `judgerank rank` writes.

A file is read as data: no code in it is run.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import judgerank

LARGEST = 20_000_000  # bytes of a file: a Space has two cores, and others wait
ASKED = "Drop a file with `model_a`, `model_b`, `winner` and, if possible, `judge` and `question_id`."


def page(path: str | Path) -> str:
    """Rank a file of judgments.

    Parameters
    ----------
    path : str or Path
        CSV, JSON, JSON Lines, Parquet or any other form that ``judgerank rank`` reads.

    Returns
    -------
    str
        The page as a frame of its own, or one sentence on what is wrong with the file.
    """
    if Path(path).stat().st_size > LARGEST:
        return f"<p>The file has more than {LARGEST // 10**6} MB; rank it on your own computer.</p>"
    try:
        text = judgerank.rank(path).to_html()
    except judgerank.JudgerankError as error:
        return f"<p>{escape(str(error))}</p>"
    frame = 'sandbox="allow-scripts" style="width: 100%; height: 90vh; border: 0"'
    return f'<iframe title="Ranking" {frame} srcdoc="{escape(text)}"></iframe>'


if __name__ == "__main__":
    import gradio

    with gradio.Blocks(title="judgerank") as space:
        gradio.Markdown(f"# Rank models from pairwise judgments\n{ASKED}")
        file = gradio.File(label="Judgments", type="filepath")
        ranking = gradio.HTML()
        file.upload(page, file, ranking)
    space.launch(max_file_size=LARGEST)
