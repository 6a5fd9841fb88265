"""The system under test: answers every question in the way of one version, `old` or `new`, as JSON Lines.

python answer.py old > old.jsonl
python answer.py new > new.jsonl
judgerank gate old.jsonl new.jsonl --panel panel.yaml

The gate is inconclusive: shorter answers win most questions, the wrong ones lose, and 15 questions are too few to
tell. The judges in judges.py are functions in place of models, so that nothing needs a key. workflow.yml does the
same on every pull request.
"""

import json
import sys

from judges import CAPITALS

PHRASES = ("What is the capital of {}?", "Which city is the capital of {}?", "Name the capital of {}.")


def answer(version: str, country: str) -> str:
    """The old version wraps its answer; the new one is short, and wrong about one country."""
    if version == "old":
        return f"As far as I know, the capital of {country} is {CAPITALS[country]}."
    return "Sydney." if country == "Australia" else f"{CAPITALS[country]}."


def main(version: str) -> None:
    for country in CAPITALS:
        for number, phrase in enumerate(PHRASES):
            name, question = f"{country.lower()}-{number}", phrase.format(country)
            row = {"question_id": name, "question": question, "answer": answer(version, country)}
            print(json.dumps(row))


if __name__ == "__main__":
    main(sys.argv[1])
