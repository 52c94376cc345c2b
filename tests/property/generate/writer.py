# SPDX-License-Identifier: Apache-2.0
"""What all generators share: weighted choices from one seed, lines of text, and a record of what was used."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
Rule = Callable[[], str]


class Writer:
    """Writes one program. All choices come from `random`, so that a seed gives one text."""

    def __init__(self, kind: str, seed: int) -> None:
        self.random = random.Random(f"{kind} {seed}")
        self.lines: list[str] = []
        self.features: Counter[str] = Counter()
        self.serial = 0

    def put(self, depth: int, line: str) -> None:
        """Write a line at a depth of nesting."""
        self.lines.append("    " * depth + line)

    def pick(self, items: Sequence[T]) -> T:
        """Any of the items, all as likely."""
        return self.random.choice(items)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def fresh(self, stem: str) -> str:
        """A name that the program does not have yet."""
        self.serial += 1
        return f"{stem}{self.serial}"

    def grow(self, rules: Mapping[str, tuple[int, Rule]]) -> str:
        """What a rule writes, chosen by weight; its name counts as a feature of the program."""
        names = list(rules)
        (name,) = self.random.choices(names, [rules[each][0] for each in names])
        self.features[name] += 1
        return rules[name][1]()
