"""The question that a judge is asked unless another is given (appendix E.2 of the paper, in words of our own)."""

from __future__ import annotations

from typing import TypedDict


class Wording(TypedDict):
    """A prompt and how it is sampled from."""

    name: str
    temperature: float
    max_tokens: int
    text: str


# {question}, {first} and {second} are filled in; the models stay anonymous
PAIRWISE: Wording = {
    "name": "pairwise",
    "temperature": 0.0,
    "max_tokens": 1024,
    "text": """\
Two assistants, A and B, have each answered the question below. Decide which answer serves the person who asked
better. Weigh whether it is correct, helpful, honest, and does what was asked; do not be swayed by length, style
or the order of the answers, and do not guess who wrote them.

Question:
{question}

Model A Response:
{first}

Model B Response:
{second}

Reply with one line and nothing else: your choice, a comma, and your confidence.
The choice is a if A's answer is better, b if B's is better, c if neither is.
The confidence is a number from 0.00 to 1.00 with two decimals.
Example: b, 0.75
""",
}
GRADED = (
    PAIRWISE["text"].partition("Reply with one line")[0]
    + """\
Reply with one line and nothing else, which says how much better an answer is:
[[A>>B]] if A's answer is much better, [[A>B]] if it is better, [[A=B]] if neither is,
[[B>A]] if B's answer is better, [[B>>A]] if it is much better.
"""
)
# {answers} stands for all of them, each under its letter
RANKED: Wording = {
    "name": "ranking",
    "temperature": PAIRWISE["temperature"],
    "max_tokens": PAIRWISE["max_tokens"],
    "text": """\
Several assistants have each answered the question below. Rank their answers by how well they serve the person who
asked. Weigh whether an answer is correct, helpful, honest, and does what was asked; do not be swayed by length,
style or the order of the answers, and do not guess who wrote them.

Question:
{question}

{answers}

Reply with one line and nothing else: the letters of all answers from best to worst, with > between them.
Write = instead of > only where neither of two answers is better.
Example, of three answers: B > A = C
""",
}
