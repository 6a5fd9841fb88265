"""Judges that are asked how much better an answer is: the prompt, what is read of replies, and the records."""

import pandas as pd
import pytest
from pydantic import ValidationError

from judgerank import read
from judgerank.collecting.ledger import record_of
from judgerank.collecting.prompt_settings import Prompt
from judgerank.collecting.replies import parse, strength
from judgerank.collecting.response import Reply


def test_the_prompt_asks_for_five_levels():
    prompt = Prompt(scale=5)
    assert "[[A>>B]]" in prompt.text and "{question}" in prompt.text and prompt.name != Prompt().name
    assert "confidence" not in prompt.text
    own = Prompt(scale=5, text="{question} {first} {second} [[A>>B]]")
    assert own.text.endswith("[[A>>B]]")
    with pytest.raises(ValidationError, match="must ask for"):
        Prompt(scale=5, text="{question} {first} {second}")
    with pytest.raises(ValidationError):
        Prompt(scale=4)


@pytest.mark.parametrize(
    ("reply", "choice", "known"),
    [
        ("[[A>>B]]", "a", 2),
        ("[[B > A]]", "b", 1),
        ("A is wrong.\n\nMy final verdict is: [[B>>A]]", "b", 2),
        ("<think>[[A>>B]]</think>[[B>A]]", "b", 1),
        ("[[A<<B]]", "b", 2),
        ("[[A]]", "a", 1),
        ("[[A=B]]", "c", None),
        ("[[A>>B]] or [[B>>A]]", "unknown", None),
        ("I cannot say.", "unknown", None),
    ],
)
def test_strength_is_that_of_the_verdict(reply, choice, known):
    assert parse(reply)[0] == choice and strength(reply) == known


def test_records_of_a_graded_prompt_are_read_with_their_strength():
    asked = {"question_id": "q", "model_a": "x", "model_b": "y", "judge_model": "j"}
    replies = ["[[A>>B]]", "[[B>A]]", "[[A=B]]", "nothing"]
    records = [
        record_of(asked | {"question_id": f"q{n}"}, Reply(text, *[None] * 5), (0, 0), True)
        for n, text in enumerate(replies)
    ]
    c = read(pd.DataFrame(records)).comparisons
    assert c.strong.tolist() == [[1, 0], [0, 0], [0, 0]]
    plain = [record_of(asked, Reply("[[A>>B]]", *[None] * 5), (0, 0))]
    assert "strength" not in plain[0]
