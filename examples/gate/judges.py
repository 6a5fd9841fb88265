"""Stand-ins for LLM judges: functions of a question and two answers that say a, b, or c for a tie."""

CAPITALS = {"Australia": "Canberra", "Canada": "Ottawa", "Kenya": "Nairobi", "Peru": "Lima", "Turkey": "Ankara"}


def exact(question: str, first: str, second: str) -> str:
    """Prefer the answer that names the right capital."""
    right = next((capital for country, capital in CAPITALS.items() if country in question), "")
    return verdict(right in first, right in second)


def brief(question: str, first: str, second: str) -> str:
    """Prefer a right answer, and of two alike the shorter."""
    found = exact(question, first, second)
    return found if found != "c" else verdict(-len(first), -len(second))


def verdict(first: float, second: float) -> str:
    """The letter for what is larger."""
    return "c" if first == second else "a" if first > second else "b"
