# SPDX-License-Identifier: Apache-2.0
"""Random kernels of loops over elements: nests of loops over arrays of one to three axes.

Loops are rectangular, triangular, tiled, backward, parallel or `while`; inside are stores, updates in place,
reductions, scans, guards, jumps, gathers, histograms, swaps, local arrays and second names for an array.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tests.property.generate.elements import FIXED, FLOATS, SIZES, Array, Counter, Elements, Scope

EXTENTS = (0, 1, 2, 3, 5, 7, 8, 9, 17, 31, 33, 63, 65, 255, 257, 1000)
LARGE_EXTENTS = (4097, 20_000, 70_001) * 3
MOST_ELEMENTS = 20_000
MOST_TURNS = 2_500
"""How many elements an array may have, and how often the innermost loop may run."""


@dataclass(frozen=True)
class KernelProgram:
    """One kernel: its text, its arrays, the sizes to try, and whether its floats are exact in any order."""

    seed: int
    text: str
    arrays: tuple[Array, ...]
    numbers: dict[str, str]
    sizes: tuple[dict[str, int], ...]
    exact: bool
    features: frozenset[str]
    for_model: bool

    @property
    def options(self) -> dict[str, Any]:
        """The options of the kernel: what is not exact keeps its order where bits are compared."""
        return {} if self.exact or self.for_model else {"precision": "strict"}

    def arguments(self, number: int) -> dict[str, Any]:
        """Arrays, then numbers, by name for entry `number` of `sizes`."""
        rng = np.random.default_rng([self.seed, number])
        arrays = {each.name: self._data(each, self.sizes[number], rng) for each in self.arrays}
        choices = {"int": (0, 1, 2, 3, 5, -1, -2), "float": (0.5, 2.0, 1.0, -1.0, 0.0)}
        return arrays | {name: choices[of][rng.integers(5)] for name, of in self.numbers.items()}

    def _data(self, array: Array, sizes: dict[str, int], rng: np.random.Generator) -> Any:
        shape = tuple(sizes[size] if isinstance(size, str) else size for size in array.dims)
        if array.bound:
            extent = sizes[array.bound]
            return rng.integers(-extent, max(extent, 1), shape).astype(array.dtype)
        if array.dtype == "bool":
            return rng.random(shape) < 0.5
        if array.dtype in FLOATS:
            if self.exact:
                return rng.integers(-4, 5, shape).astype(array.dtype)
            values = rng.normal(0, 3, shape)
            if self.for_model:  # the vector unit gives either zero, and the order of sums is its own
                return values.astype(array.dtype)
            special = rng.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-40, 1e30], shape)
            return np.where(rng.random(shape) < 0.06, special, values).astype(array.dtype)
        info = np.iinfo(array.dtype)
        if rng.random() < 0.3:
            return rng.integers(info.min, info.max, shape, array.dtype, endpoint=True)
        return rng.integers(max(info.min, -9), 10, shape).astype(array.dtype)


def kernel_program(seed: int, for_model: bool = False) -> KernelProgram:
    """The kernel of a seed; `for_model` keeps to dtypes and values that the model has."""
    return _Kernels(seed, for_model).program(seed)


class _Kernels(Elements):
    def __init__(self, seed: int, for_model: bool) -> None:
        super().__init__("model kernels" if for_model else "kernels", seed)
        self.for_model = for_model
        self.exact = self.chance(0.8 if for_model else 0.6)
        self.size = 0
        self.nests: set[tuple[str | int, ...]] = set()
        self.arrays = []
        self.numbers = {}

    def program(self, seed: int) -> KernelProgram:
        """Write all of it."""
        self.choose_arrays()
        self.numbers = {name: of for name, of in (("n", "int"), ("u", "float")) if self.chance(0.25)}
        parameters = ", ".join(
            [f"{a.name}: asc.{a.dtype}[{', '.join(map(str, a.dims))}]" for a in self.arrays]
            + [f"{name}: {of}" for name, of in self.numbers.items()]
        )
        given = tuple(self.arrays)
        self.put(0, "from __future__ import annotations")
        self.put(0, "import pyasc as asc")
        self.put(0, f"def k({parameters}):")
        if self.chance(0.2):
            self.helper()
        if self.chance(0.25):
            self.local_array()
        for _ in range(self.random.randint(1, 3)):
            self.phase()
        sizes = tuple(self.choose_sizes() for _ in range(4))
        features = frozenset(
            {*self.features, *(a.dtype for a in given), "exact" if self.exact else "any floats"}
        )
        return KernelProgram(
            seed=seed,
            text="\n".join(self.lines) + "\n",
            arrays=given,
            numbers=self.numbers,
            sizes=sizes,
            exact=self.exact,
            features=features,
            for_model=self.for_model,
        )

    def choose_sizes(self) -> dict[str, int]:
        """Sizes, awkward and as large as arrays and loops allow; some that make work for several threads."""
        large = not self.for_model and self.chance(0.05)
        extents = (*EXTENTS, *LARGE_EXTENTS) if large else EXTENTS
        scale = 32 if large else 1
        while True:
            sizes = {size: self.pick(extents) for size in SIZES}
            volumes = [prod(sizes[d] if isinstance(d, str) else d for d in a.dims) for a in self.arrays]
            turns = [prod(sizes[d] if isinstance(d, str) else d for d in nest) for nest in self.nests]
            if max(volumes) <= scale * MOST_ELEMENTS and max(turns, default=0) <= scale * MOST_TURNS:
                return sizes

    def choose_arrays(self) -> None:
        """Two or three dtypes, each with a few arrays; all sizes appear."""
        pool = ["float32"] * 5 + ["int32"] * 4 + ["float16", "int16", "int8", "uint8", "int64", "uint32"]
        if not self.for_model:
            pool.append("float64")
        if not self.exact:
            pool = [d for d in pool if d != "float16"]
        shapes: list[tuple[str | int, ...]] = [
            ("N",),
            ("N",),
            ("M", "N"),
            ("N", "M"),
            ("M",),
            ("K", "M", "N"),
            (FIXED,),
        ]
        for dtype in dict.fromkeys(self.pick(pool) for _ in range(self.random.randint(1, 3))):
            for _ in range(self.random.randint(1, 3)):
                self.add(self.fresh("x"), dtype, self.pick(shapes))
        first = self.arrays[0]
        self.add(self.fresh("x"), first.dtype, first.dims)
        if self.chance(0.3):
            self.arrays.append(Array(self.fresh("at"), "int32", self.pick((("N",), ("M",))), self.pick("NM")))
        if self.chance(0.25):
            self.add(self.fresh("mask"), "bool", ("N",))
        used = {size for a in self.arrays for size in (*a.dims, a.bound)}
        if not set(SIZES) <= used:
            self.add(self.fresh("x"), first.dtype, SIZES if self.chance(0.3) else ("K", "M"))
            self.add(self.fresh("x"), first.dtype, ("N",))

    def add(self, name: str, dtype: str, dims: tuple[str | int, ...]) -> None:
        self.arrays.append(Array(name, dtype, dims))

    def helper(self) -> None:
        self.features["helper"] += 1
        self.put(1, "def h(u, v):")
        if self.chance(0.5):
            self.put(2, "if u > v:")
            self.put(3, "return u")
        self.put(2, f"return {self.pick(('u + v', 'max(u, v)', 'v - u'))}")

    def local_array(self) -> None:
        """An array of the kernel's own, or another name for a parameter."""
        if self.chance(0.4):
            of = self.pick([a for a in self.arrays if not a.bound])
            self.features["second name"] += 1
            name = self.fresh("w")
            self.put(1, f"{name} = {of.name}")
            self.arrays.append(Array(name, of.dtype, of.dims))
            self.same = {name: of.name}
            return
        dtype = self.pick([a.dtype for a in self.arrays if a.dtype != "bool" and not a.bound])
        dims = self.pick((("N",), ("M", "N"), (FIXED,)))
        name = self.fresh("t")
        self.features["local array"] += 1
        shape = str(dims[0]) if len(dims) == 1 else f"({', '.join(map(str, dims))})"
        self.put(1, f"{name} = asc.zeros({shape}, dtype=asc.{dtype})")
        self.arrays.append(Array(name, dtype, dims))

    same: dict[str, str] = {}  # noqa: RUF012  # replaced, never changed

    def phase(self) -> None:
        """One nest of loops at the top, or a statement on whole arrays."""
        kinds = {"loop": 6, "parallel": 4, "whole": 1, "rows": 1}
        (kind,) = self.random.choices(list(kinds), list(kinds.values()))
        if kind == "parallel":
            self.parallel()
        elif kind == "whole":
            self.whole()
        elif kind == "rows":
            self.rows()
        else:
            self.loop(1, Scope())

    def writable(self) -> list[Array]:
        """Arrays that may be written: not the indices."""
        return [a for a in self.arrays if not a.bound]

    def whole(self) -> None:
        """An assignment to all elements, or to a slice, of an array with one axis."""
        self.features["whole array"] += 1
        vectors = [a for a in self.writable() if a.dims == ("N",) and a.dtype != "bool"]
        if not vectors:
            return self.loop(1, Scope())
        a = self.pick(vectors)
        b = self.pick([v for v in vectors if v.dtype == a.dtype])
        self.put(
            1,
            self.pick(
                (
                    f"{a.name}[:] = {b.name} + {a.name}",
                    f"{a.name}[1:] = {b.name}[:-1]",
                    f"{a.name}[:] = {b.name}[::-1]",
                    f"{a.name}[::2] += {b.name}[::2]",
                    f"{a.name}[:] = asc.where({b.name} > {a.name}, {b.name}, {a.name})",
                    f"{a.name}[:-1] = asc.maximum({b.name}[1:], {a.name}[:-1])",
                )
            ),
        )
        return None

    def rows(self) -> None:
        """A loop over rows, each by a name of its own."""
        matrices = [a for a in self.writable() if len(a.dims) == 2 and a.dtype != "bool"]
        if not matrices:
            return self.loop(1, Scope())
        self.features["rows"] += 1
        a = self.pick(matrices)
        i, row = self.fresh("i"), self.fresh("r")
        counter = Counter(i, a.dims[0])
        self.put(1, f"for {i} in range({a.dims[0]}):")
        self.put(2, f"{row} = {a.name}[{i}]")
        self.arrays.append(Array(row, a.dtype, a.dims[1:]))
        self.loop(2, Scope().inside(counter))
        self.arrays.pop()
        return None

    def parallel(self) -> None:
        """A parallel loop, which touches what it writes at its own index alone."""
        outputs = [
            a for a in self.writable() if len(a.dims) <= 2 and a.dims != (FIXED,) and a.name not in self.same
        ]
        if not outputs:
            return self.loop(1, Scope())
        first = self.pick(outputs)
        alike = [a for a in outputs if a.dims == first.dims and a is not first]
        counters = [Counter(self.fresh("i"), size) for size in first.dims]
        names = ", ".join(c.name for c in counters)
        bounds = ", ".join(str(size) for size in first.dims)
        self.features["parallel"] += 1
        kind = "parallel_for_grid" if len(counters) > 1 else "parallel_for"
        self.put(1, f"for {names} in asc.{kind}({bounds}):")
        written = [first, *alike[: self.random.randint(0, 1)]]
        if any(a.name in self.same.values() for a in written):
            hidden = [n for n, of in self.same.items() if of in {a.name for a in written}]
        else:
            hidden = []
        kept = self.arrays
        self.arrays = [a for a in self.arrays if a.name not in hidden]
        own = {a.name: names for a in written}
        scope = Scope(counters, {}, own)
        self.body(2, scope, len(counters), written)
        self.arrays = kept
        return None

    def loop(self, depth: int, scope: Scope, targets: list[Array] | None = None) -> None:
        """A sequential loop; within a parallel one, `targets` are what may be written."""
        kind = self.pick(
            ("plain",) * 6 + ("inner",) * 3 + ("triangle", "tiled", "backward", "step", "while", "values")
        )
        if kind == "triangle" and not any(c.size == "N" for c in scope.counters):
            kind = "plain"
        self.features[f"{kind} loop"] += 1
        getattr(self, f"{kind}_loop")(depth, scope, targets)

    def counter(self, size: str | int | None = None, low: int = 0, high: int = 0) -> Counter:
        sizes = [size for a in self.arrays for size in a.dims]
        return Counter(self.fresh("i"), size if size is not None else self.pick(sizes), low, high)

    def plain_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        c = self.counter()
        self.counted(depth, scope.inside(c), c, f"range({c.size})", targets)

    def inner_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        c = self.counter(None, self.random.randint(0, 2), self.random.randint(0, 2))
        end = f"{c.size} - {c.high}" if c.high else c.size
        self.counted(depth, scope.inside(c), c, f"range({c.low}, {end})", targets)

    def step_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        c = self.counter(None, self.random.randint(0, 1), 0)
        self.counted(
            depth, scope.inside(c), c, f"range({c.low}, {c.size}, {self.random.randint(2, 3)})", targets
        )

    def backward_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        c = self.counter()
        how = self.pick((f"range({c.size} - 1, -1, -1)", f"reversed(range({c.size}))"))
        self.counted(depth, scope.inside(c), c, how, targets)

    def triangle_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        outer = self.pick([o for o in scope.counters if o.size == "N"])
        c = self.counter("N")
        how = self.pick((f"range({outer.name}, N)", f"range({outer.name})", f"range({outer.name} + 1)"))
        self.counted(depth, scope.inside(c), c, how, targets)

    def tiled_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        tile, c = self.fresh("b"), self.counter()
        width = self.pick((2, 4, 8))
        self.put(depth, f"for {tile} in range(0, {c.size}, {width}):")
        how = f"range({tile}, min({tile} + {width}, {c.size}))"
        self.counted(depth + 1, scope.inside(c), c, how, targets)

    def while_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        c = self.counter()
        test = f" and {self.condition(scope.inside(c), 1)}" if self.chance(0.5) else ""
        self.put(depth, f"{c.name} = 0")
        self.put(depth, f"while {c.name} < {c.size}{test}:")
        self.body(depth + 1, scope.inside(c), len(scope.counters) + 1, targets, jumps=False)
        self.put(depth + 1, f"{c.name} += {self.pick((1, 1, 2))}")

    def values_loop(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        """Over the elements of an array, with their index."""
        vectors = [
            a for a in self.arrays if len(a.dims) == 1 and a.name not in scope.own and a.dtype != "bool"
        ]
        if not vectors:
            return self.plain_loop(depth, scope, targets)
        a = self.pick(vectors)
        c, v = self.counter(a.dims[0]), self.fresh("v")
        inside = scope.inside(c)
        if (
            self.chance(0.6) and targets is None
        ):  # the element's name sees what the loop writes before it is read
            inside.temporaries[v] = a.dtype
        self.put(depth, f"for {c.name}, {v} in enumerate({a.name}):")
        self.body(depth + 1, inside, len(inside.counters), targets)
        return None

    def counted(self, depth: int, scope: Scope, c: Counter, over: str, targets: list[Array] | None) -> None:
        """A loop, perhaps around an accumulator that is stored after it."""
        if self.chance(0.35):
            return self.reduction(depth, scope, c, over, targets)
        self.put(depth, f"for {c.name} in {over}:")
        self.body(depth + 1, scope, len(scope.counters), targets)
        if self.chance(0.08):
            self.features["else of a loop"] += 1
            self.put(depth, "else:")
            outer = Scope(scope.counters[:-1], dict(scope.temporaries), scope.own)
            self.store(depth + 1, outer, targets)
        return None

    def reduction(self, depth: int, scope: Scope, c: Counter, over: str, targets: list[Array] | None) -> None:
        """An accumulator over a loop, perhaps a scan, perhaps under a guard, or an argmax."""
        outer = Scope(scope.counters[:-1], dict(scope.temporaries), scope.own)
        options = [a for a in (targets or self.writable()) if a.dtype != "bool"]
        if not options:
            return self.store(depth, outer, targets)
        target = self.pick(options)
        acc = self.fresh("s")
        dtype = target.dtype
        kind = self.pick(("sum", "sum", "sum of products", "min", "max", "argmax", "count"))
        self.features[kind] += 1
        self.nests.add(tuple(c.size for c in scope.counters))
        start = self.strong(dtype, outer) if self.chance(0.3) else "0.0" if dtype in FLOATS else "0"
        self.put(depth, f"{acc} = {0 if kind == 'count' else start}")
        if kind == "argmax":
            self.put(depth, f"{acc}_at = 0")
        self.put(depth, f"for {c.name} in {over}:")
        inside = depth + 1
        if self.chance(0.3):
            self.features["guarded reduction"] += 1
            self.put(inside, f"if {self.condition(scope, 1)}:")
            inside += 1
        self.accumulate(inside, scope, acc, kind, dtype)
        if kind != "count" and self.chance(0.25) and inside == depth + 1:
            self.features["scan"] += 1
            self.put(inside, f"{self.place(target, scope)} = {acc}")
        if self.chance(0.2) and inside == depth + 1:
            self.put(inside, f"if {self.condition(scope, 1)}:")
            self.put(inside + 1, self.pick(("break", "continue")))
        result = f"{acc}_at % 100" if kind == "argmax" else f"{acc} % 100" if kind == "count" else acc
        self.put(depth, f"{self.place(target, outer)} = {result}")
        return None

    def accumulate(self, depth: int, scope: Scope, acc: str, kind: str, dtype: str) -> None:
        value = self.value(dtype, scope, 2)
        strong = self.strong(dtype, scope)
        if kind == "sum":
            self.put(
                depth,
                self.pick(
                    (f"{acc} += {strong} + {value}", f"{acc} = {acc} + {strong}", f"{acc} -= {strong}")
                ),
            )
        elif kind == "sum of products":
            self.put(depth, f"{acc} += {strong} * {self.strong(dtype, scope)}")
        elif kind in ("min", "max"):
            self.put(depth, f"{acc} = {kind}({acc}, {strong})")
        elif kind == "argmax":
            self.put(depth, f"if {strong} {self.pick(('>', '>=', '<'))} {acc}:")
            self.put(depth + 1, f"{acc} = {strong}")
            self.put(depth + 1, f"{acc}_at = {scope.counters[-1].name}")
        else:
            self.put(depth, f"{acc} += {self.random.randint(1, 3)}")

    def place(self, array: Array, scope: Scope) -> str:
        """Where a store goes."""
        return self.element(array, scope)

    def body(
        self, depth: int, scope: Scope, level: int, targets: list[Array] | None, jumps: bool = True
    ) -> None:
        """Statements in a loop."""
        self.nests.add(tuple(c.size for c in scope.counters))
        for _ in range(self.pick((1, 1, 2, 2, 3))):
            self.size += 1
            kinds = {"store": 5, "update": 3, "temporary": 2, "guard": 3}
            if level < 3 and self.size < 12:
                kinds["loop"] = 4
            if targets is None:
                kinds |= {"swap": 1, "histogram": 1}
                if jumps:
                    kinds["jump"] = 1
            (kind,) = self.random.choices(list(kinds), list(kinds.values()))
            self.features[kind] += 1
            getattr(self, kind if kind != "loop" else "loop")(depth, scope, targets)

    def target(self, targets: list[Array] | None) -> Array:
        return self.pick(targets or self.writable())

    def store(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        a = self.target(targets)
        if a.dtype == "bool":
            value = self.condition(scope, 1)
        elif self.chance(0.06) and any("def h" in line for line in self.lines):
            value = f"h({self.strong(a.dtype, scope)}, {self.strong(a.dtype, scope)})"
        else:
            value = self.value(a.dtype, scope)
        self.put(depth, f"{self.place(a, scope)} = {value}")

    def update(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        a = self.target(targets)
        if a.dtype == "bool":
            return self.store(depth, scope, targets)
        place, value = self.place(a, scope), self.value(a.dtype, scope, 2)
        strong = self.strong(a.dtype, scope)
        forms = [
            f"{place} += {strong}",
            f"{place} -= {value}",
            f"{place} = max({place}, {value})",
            f"{place} = {place} + {strong}",
        ]
        if a.dtype not in FLOATS:
            forms += [f"{place} ^= {strong}", f"{place} *= {strong}"]
        self.put(depth, self.pick(forms))
        return None

    def temporary(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        dtype = self.pick([a.dtype for a in self.arrays if a.dtype != "bool"])
        name = self.fresh("t")
        if self.chance(0.3):
            self.put(depth, f"{name} = {self.strong(dtype, scope)}")
            self.put(depth, f"if {self.condition(scope, 1)}:")
            self.put(depth + 1, f"{name} = {name} + {self.strong(dtype, scope)}")
        else:
            self.put(depth, f"{name} = {self.strong(dtype, scope)} + {self.value(dtype, scope, 1)}")
        scope.temporaries[name] = dtype
        self.store(depth, scope, targets)

    def guard(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        def inner() -> None:
            held = dict(scope.temporaries)
            if self.chance(0.2) and depth < 6:
                self.guard(depth + 1, scope, targets)
            else:
                self.pick((self.store, self.update))(depth + 1, scope, targets)
            scope.temporaries = held

        self.put(depth, f"if {self.condition(scope)}:")
        inner()
        if self.chance(0.3):
            inner()
        if self.chance(0.2):
            self.put(depth, f"elif {self.condition(scope, 1)}:")
            inner()
        if self.chance(0.4):
            self.put(depth, "else:")
            inner()

    def swap(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        a = self.pick([x for x in self.writable() if x.dtype != "bool"])
        first, second = self.place(a, scope), self.place(a, scope)
        self.put(depth, f"{first}, {second} = {second}, {first}")

    def histogram(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        tables = [a for a in self.writable() if a.dims == (FIXED,) and a.dtype != "bool"]
        keys = [a for a in self.arrays if a.dtype in ("int32", "int64", "int16", "uint8")]
        if not tables or not keys:
            return self.store(depth, scope, targets)
        a = self.pick(tables)
        key = self.element(self.pick(keys), scope)
        self.put(depth, f"{a.name}[{key} % {FIXED}] += {self.pick(('1', self.strong(a.dtype, scope)))}")
        return None

    def jump(self, depth: int, scope: Scope, targets: list[Array] | None) -> None:
        self.put(depth, f"if {self.condition(scope, 1)}:")
        self.put(depth + 1, self.pick(("break", "continue")))
