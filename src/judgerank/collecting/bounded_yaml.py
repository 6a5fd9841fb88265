"""YAML for settings: plain values, each key once, and no text that stands for more than settings can mean."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import yaml

LARGEST = 1 << 20  # bytes of a file; prompts and judges take some thousand
DEEPEST = 32  # lists and mappings within each other
MOST_VALUES = 20_000  # once aliases and merges are written out
LONGEST_INTEGER = 4000  # characters; Python converts no more than 4,300 digits
PLAIN_TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map"))
MERGE = "tag:yaml.org,2002:merge"
# numbers as JSON writes them, which YAML 1.1 takes for texts: 1e-06 and 1.5e5
EXPONENT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+\Z")


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml comes without types
    """Composes nodes within bounds, before anything is made of them.

    A key that is there twice is refused: the usual loader keeps the last, and says nothing. A date is a text, as
    many models are named with one.
    """

    yaml_constructors: ClassVar = {
        tag: make for tag, make in yaml.SafeLoader.yaml_constructors.items() if tag in (*PLAIN_TAGS, None)
    }
    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag in (*PLAIN_TAGS, MERGE)]
        + ([(PLAIN_TAGS[3], EXPONENT)] if first and first in "-+0123456789" else [])
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str):
        super().__init__(text)
        self._depth, self._composed = 0, 0
        self._values: dict[int, int] = {}  # by node, once it is whole

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node:
        event = self.peek_event()
        if self._depth >= DEEPEST:
            raise _refused(f"more than {DEEPEST} lists and keys within each other", event)
        self._depth, self._composed = self._depth + 1, self._composed + 1
        if self._composed > MOST_VALUES:
            raise _refused(f"more than {MOST_VALUES:,} values", event)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent):
            if id(node) not in self._values:
                raise _refused(f"*{event.anchor} refers to itself", event)
            return node
        if isinstance(node, yaml.MappingNode):
            _require_keys_once(node)
        self._values[id(node)] = 1 + sum(self._values[id(part)] for part in _parts(node))
        if self._values[id(node)] > MOST_VALUES:
            raise _refused(f"more than {MOST_VALUES:,} values, with aliases written out", event)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        is_scalar = isinstance(node, yaml.ScalarNode)
        if is_scalar and node.tag == PLAIN_TAGS[2] and len(node.value) > LONGEST_INTEGER:
            raise _refused(f"a number of {len(node.value):,} digits", node)
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, OverflowError):  # of a tag that says what the text is not
            raise _refused(f"this is not a valid {node.tag.rpartition(':')[2]}", node) from None


def _parts(node: yaml.Node) -> list[yaml.Node]:
    """The nodes directly in one."""
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _require_keys_once(node: yaml.MappingNode) -> None:
    seen = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _refused("a key that is not text", key)
        if key.value in seen:
            raise _refused(f"the key {key.value[:80]!r} is there twice", key)
        seen.add(key.value)


def _refused(problem: str, where: yaml.Event | yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, problem, where.start_mark)


def load(text: str) -> Any:
    """What a YAML text holds: texts, numbers, true, false, null, lists and mappings of these.

    Raises
    ------
    yaml.YAMLError
        If it is not YAML, or not within bounds, with a mark of where.
    """
    loader = _Loader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()
