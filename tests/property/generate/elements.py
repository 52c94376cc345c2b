# SPDX-License-Identifier: Apache-2.0
"""Expressions over elements of arrays: indices that are in range, values of one dtype, conditions."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.property.generate.writer import Rule, Writer

FLOATS = ("float32", "float16", "float64")
SIZES = ("N", "M", "K")
FIXED = 8
"""The extent of arrays that are no longer than that, such as histograms."""


@dataclass(frozen=True)
class Array:
    """A parameter or a local array: its dtype, and for each axis the name of its size or `FIXED`."""

    name: str
    dtype: str
    dims: tuple[str | int, ...]
    bound: str = ""
    """For an array of indices: the size that its elements are valid for."""


@dataclass(frozen=True)
class Counter:
    """A loop's counter: from `low` to `size - high`."""

    name: str
    size: str | int
    low: int = 0
    high: int = 0


@dataclass
class Scope:
    """What an expression may read at one place of the program."""

    counters: list[Counter] = field(default_factory=lambda: list[Counter]())
    temporaries: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    """Names of numbers, and their dtypes."""
    own: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    """In a parallel loop: the arrays that it writes, with the one index at which it may touch them."""

    def inside(self, *counters: Counter) -> Scope:
        """The scope of a loop's body."""
        return Scope([*self.counters, *counters], dict(self.temporaries), self.own)


class Elements(Writer):
    """Writes expressions; `exact` keeps to floats whose sums are exact in any order."""

    arrays: list[Array]
    exact: bool
    numbers: dict[str, str]
    """Parameters that are numbers: from the name to `int` or `float`."""

    def index(self, size: str | int, scope: Scope) -> str:
        """An index into an axis, in range wherever the axis has elements."""
        fitting = [c for c in scope.counters if c.size == size]
        if not fitting or self.chance(0.06):
            return self.stray_index(size, scope)
        c = self.pick(fitting)
        offsets = [k for k in range(-2, 3) if -c.low <= k <= c.high and k] or [0]
        offset = self.pick(offsets)
        shifted = f"{c.name} {'+' if offset > 0 else '-'} {abs(offset)}" if offset else c.name
        forms = [c.name] * 6 + [shifted] * 3 + [f"{c.name} - 1", f"{size} - 1 - {c.name}", f"-1 - {c.name}"]
        forms.append(f"({c.name} {self.pick('+-')} {self.random.randint(1, 5)}) % {size}")
        forms += [
            f"({c.name} {self.pick('+-')} {n}) % {size}" for n, of in self.numbers.items() if of == "int"
        ]
        if len(fitting) > 1:
            forms.append(f"({fitting[0].name} + {fitting[1].name}) % {size}")
        chosen = self.pick(forms)
        self.features["index " + ("i" if chosen == c.name else "i+c" if chosen == shifted else "other")] += 1
        return chosen

    def stray_index(self, size: str | int, scope: Scope) -> str:
        """An index that is no counter of this axis."""
        if size == FIXED:
            if scope.counters and self.chance(0.6):
                return f"{self.pick(scope.counters).name} % {FIXED}"
            return str(self.random.randint(-2, FIXED - 1))
        lists = [
            a for a in self.arrays if a.bound == size and self.readable(a, scope) and self.reachable(a, scope)
        ]
        if lists and self.chance(0.7):
            self.features["gather"] += 1
            return self.element(self.pick(lists), scope)
        if scope.counters and self.chance(0.4):
            return f"{self.pick(scope.counters).name} % {size}"
        return self.pick(("0", "-1", f"{size} - 1"))

    def reachable(self, array: Array, scope: Scope) -> bool:
        """Whether a counter goes along each axis, so that an element has an index without further look-ups."""
        return all(any(c.size == size for c in scope.counters) for size in array.dims)

    def readable(self, array: Array, scope: Scope) -> bool:
        """Whether a parallel loop may read any element of the array."""
        return array.name not in scope.own

    def element(self, array: Array, scope: Scope) -> str:
        """An element of an array."""
        if array.name in scope.own:
            return f"{array.name}[{scope.own[array.name]}]"
        return f"{array.name}[{', '.join(self.index(size, scope) for size in array.dims)}]"

    def leaf(self, dtype: str, scope: Scope) -> str:
        """Something of a dtype without operators, or a number that fits it."""
        arrays = [a for a in self.arrays if a.dtype == dtype]
        names = [n for n, of in scope.temporaries.items() if of == dtype]
        pick = self.random.random()
        if arrays and pick < 0.65:
            return self.element(self.pick(arrays), scope)
        if names and pick < 0.8:
            return self.pick(names)
        numbers = [n for n, of in self.numbers.items() if (of == "float") == (dtype in FLOATS)]
        if numbers and pick < 0.87 and dtype not in ("int8", "uint8", "uint32"):
            return self.pick(numbers)
        if scope.counters and pick < 0.92:
            name = self.pick(scope.counters).name
            return f"({name} % 7)" if dtype in ("int8", "uint8", "float16") or self.chance(0.3) else name
        return self.literal(dtype)

    def strong(self, dtype: str, scope: Scope) -> str:
        """Something that has the dtype, so that what it is part of has it too."""
        arrays = [a for a in self.arrays if a.dtype == dtype]
        return self.element(self.pick(arrays), scope)

    def literal(self, dtype: str) -> str:
        """A number that all values of the dtype's kind can be computed with."""
        if dtype in FLOATS:
            return self.pick(("0.0", "1.0", "2.0", "0.5", "3.0", "(-1.0)"))
        return self.pick(
            ("1", "2", "3", "5") if dtype[0] == "u" else ("0", "1", "2", "3", "7", "(-1)", "(-3)")
        )

    def value(self, dtype: str, scope: Scope, room: int = 3) -> str:
        """An expression of a dtype."""
        if room <= 0:
            return self.leaf(dtype, scope)

        def some() -> str:
            return self.value(dtype, scope, room - 1 - self.random.randint(0, 1))

        rules: dict[str, tuple[int, Rule]] = {
            "element": (4, lambda: self.leaf(dtype, scope)),
            "+ -": (6, lambda: f"({some()} {self.pick('+-')} {self.strong(dtype, scope)})"),
            "min max": (3, lambda: f"{self.pick(('min', 'max'))}({some()}, {self.strong(dtype, scope)})"),
            "numpy min max": (
                1,
                lambda: f"asc.{self.pick(('minimum', 'maximum'))}({some()}, {self.strong(dtype, scope)})",
            ),
            "choice": (
                2,
                lambda: f"({some()} if {self.condition(scope, room - 1)} else {self.strong(dtype, scope)})",
            ),
            "abs": (1, lambda: f"abs({self.strong(dtype, scope)})"),
        }
        if dtype[0] != "u":
            rules["neg"] = (1, lambda: f"(-{self.strong(dtype, scope)})")
        rules |= (
            self.of_floats(dtype, scope, some) if dtype in FLOATS else self.of_integers(dtype, scope, some)
        )
        return self.grow(rules)

    def of_floats(self, dtype: str, scope: Scope, some: Rule) -> dict[str, tuple[int, Rule]]:
        """Rules for floats."""
        rules: dict[str, tuple[int, Rule]] = {
            "* literal": (2, lambda: f"({self.strong(dtype, scope)} * {self.literal(dtype)})"),
            "product": (2, lambda: f"({self.strong(dtype, scope)} * {self.strong(dtype, scope)})"),
            "convert": (1, lambda: self.converted(dtype, scope)),
        }
        if not self.exact:
            rules |= {
                "divide": (2, lambda: f"({some()} / {self.strong(dtype, scope)})"),
                "float // %": (
                    1,
                    lambda: (
                        f"({self.strong(dtype, scope)} {self.pick(('//', '%'))} {self.pick(('3.0', '0.75'))})"
                    ),
                ),
                "sqrt": (1, lambda: f"asc.sqrt(abs({self.strong(dtype, scope)}))"),
                "rounding": (
                    1,
                    lambda: (
                        f"asc.{self.pick(('floor', 'ceil', 'rint', 'trunc'))}({self.strong(dtype, scope)})"
                    ),
                ),
            }
        return rules

    def of_integers(self, dtype: str, scope: Scope, some: Rule) -> dict[str, tuple[int, Rule]]:
        """Rules for integers."""
        return {
            "product": (2, lambda: f"({some()} * {self.strong(dtype, scope)})"),
            "// %": (
                2,
                lambda: (
                    f"({self.strong(dtype, scope)} {self.pick(('//', '%'))} {self.pick(('2', '3', '5', '7'))})"
                ),
            ),
            "// % of two": (1, lambda: f"({some()} {self.pick(('//', '%'))} {self.strong(dtype, scope)})"),
            "bits": (2, lambda: f"({some()} {self.pick('&|^')} {self.strong(dtype, scope)})"),
            "shift": (
                1,
                lambda: (
                    f"({self.strong(dtype, scope)} {self.pick(('<<', '>>'))} {self.random.randint(0, 3)})"
                ),
            ),
            "invert": (1, lambda: f"(~{self.strong(dtype, scope)})"),
            "convert": (1, lambda: self.converted(dtype, scope)),
        }

    def converted(self, dtype: str, scope: Scope) -> str:
        """An element of another dtype, converted; floats only where their values are small."""
        others = [
            a for a in self.arrays if a.dtype not in (dtype, "bool") and (self.exact or a.dtype not in FLOATS)
        ]
        if dtype not in (*FLOATS, "int32", "int64"):  # beyond their range CPython's conversion is not defined
            others = [a for a in others if a.dtype not in FLOATS]
        if not others:
            return self.strong(dtype, scope)
        return f"asc.{dtype}({self.element(self.pick(others), scope)})"

    def condition(self, scope: Scope, room: int = 2) -> str:
        """A test of elements, counters or sizes."""
        rules: dict[str, tuple[int, Rule]] = {"test of elements": (5, lambda: self.compare(scope, room))}
        masks = [a for a in self.arrays if a.dtype == "bool"]
        if masks:
            rules["test of a mask"] = (1, lambda: self.element(self.pick(masks), scope))
        if scope.counters:
            rules["test of a counter"] = (4, lambda: self.compare_counter(scope))
        if room > 0:
            rules["and or"] = (
                2,
                lambda: (
                    f"({self.condition(scope, room - 1)} {self.pick(('and', 'or'))} {self.condition(scope, room - 1)})"
                ),
            )
            rules["not"] = (1, lambda: f"(not {self.condition(scope, room - 1)})")
        return self.grow(rules)

    def compare(self, scope: Scope, room: int) -> str:
        array = self.pick([a for a in self.arrays if a.dtype != "bool"])
        right = self.pick((self.literal(array.dtype), self.strong(array.dtype, scope)))
        left = (
            self.value(array.dtype, scope, min(room, 1)) if self.chance(0.3) else self.element(array, scope)
        )
        return f"({left} {self.pick(('<', '<=', '>', '>=', '==', '!='))} {right})"

    def compare_counter(self, scope: Scope) -> str:
        c = self.pick(scope.counters)
        others = [o.name for o in scope.counters if o is not c] or ["2"]
        return self.pick(
            (
                f"{c.name} {self.pick(('<', '>', '>=', '=='))} {self.random.randint(0, 5)}",
                f"{c.name} % {self.random.randint(2, 4)} == {self.random.randint(0, 1)}",
                f"{c.name} < {c.size} - {self.random.randint(1, 3)}",
                f"{self.random.randint(0, 3)} <= {c.name} < {c.size} - 1",
                f"{c.name} {self.pick(('<', '<=', '==', '!='))} {self.pick(others)}",
            )
        )
