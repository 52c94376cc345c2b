# SPDX-License-Identifier: Apache-2.0
"""Random programs of whole arrays: each operation is computed with NumPy while it is written.

So every program is valid, views are NumPy's own, and the expected results come with the text. NumPy's result is
narrowed to float32 where it makes float64 of operands none of which is float64. A value is `exact` while NumPy's bits
are the only right ones; what is discontinuous is applied to exact values alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import pyasc as asc
from tests.property.generate.writer import Writer

DTYPES = ("float32",) * 5 + (
    "float16",
    "float64",
    "int8",
    "int16",
    "int32",
    "int32",
    "int64",
    "uint8",
    "uint32",
    "bool",
)
EXTENTS = (0, 1, 1, 2, 3, 5, 7, 8, 9, 17, 31, 33, 65)
MOST_ELEMENTS = 4000
_EXACT_LIMIT = {"float16": 2.0**11, "float32": 2.0**24, "float64": 2.0**53}
BOUNDS = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-9}
"""How far an inexact result may be off, relative to the largest element."""


@dataclass(frozen=True, eq=False)
class Term:
    """A piece of text with its value in NumPy."""

    text: str
    value: Any
    exact: bool
    bound: float = 0.0
    """How far it may be off, relative to the largest element: that of the narrowest type on the way."""

    @property
    def dtype(self) -> str:
        """NumPy's name of the dtype."""
        return self.value.dtype.name

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.value.shape


@dataclass(frozen=True)
class TensorProgram:
    """One program: its text, its arguments, what it returns, and the arguments as it leaves them."""

    seed: int
    text: str
    arguments: tuple[Any, ...]
    results: tuple[Term, ...]
    after: tuple[Any, ...]
    features: frozenset[str]


_OF_ARRAYS = (
    "asc.arg",
    "asc.cum",
    "asc.mean",
    "asc.var",
    "asc.std",
    "softmax",
    "asc.stack",
    "[",
    "@",
    "asc.transpose",
)


class _Invalid(Exception):
    """NumPy refuses an operation, or its result is too large: choose another one."""


def tensor_program(seed: int, for_model: bool = False) -> TensorProgram:
    """The program of a seed; `for_model` keeps to dtypes and values that the model has."""
    return _Tensors(seed, for_model).program(seed)


class _Tensors(Writer):
    def __init__(self, seed: int, for_model: bool) -> None:
        super().__init__("model tensors" if for_model else "tensors", seed)
        self.dtypes = [dtype for dtype in DTYPES if not (for_model and dtype == "float64")]
        self.rng = np.random.default_rng(seed)
        self.sizes = {name: self.pick(EXTENTS) for name in "NMK"}
        self.whole = for_model or self.chance(0.6)
        self.pool: list[Term] = []
        self.inexact_written = False

    def program(self, seed: int) -> TensorProgram:
        """Write all of it."""
        parameters = [self.parameter() for _ in range(self.random.randint(2, 4))]
        arguments = tuple(term.value.copy() for term in self.pool)
        self.put(0, "from __future__ import annotations")
        self.put(0, "import pyasc as asc")
        self.put(0, f"def k({', '.join(parameters)}):")
        given = list(self.pool)
        for _ in range(self.random.randint(2, 7)):
            self.statement(given)
        results = self.results()
        self.put(1, f"return {', '.join(term.text for term in results)},")
        after = tuple(term.value for term in given)
        text = "\n".join(self.lines) + "\n"
        features = frozenset({*self.features, *(term.dtype for term in self.pool)})
        return TensorProgram(seed, text, arguments, results, after, features)

    def results(self) -> tuple[Term, ...]:
        """The last names and perhaps others."""
        named = {term.text: term for term in self.pool}
        last = list(named.values())[-1]
        others = [term for term in named.values() if self.chance(0.25)][:2]
        return tuple(dict.fromkeys([last, *others]))

    def parameter(self) -> str:
        """A new parameter in the pool; its declaration."""
        rank = self.random.choices((1, 2, 3, 0), (4, 5, 2, 0))[0]
        while True:
            names = [self.pick("NMK") for _ in range(rank)]
            shape = tuple(1 if self.chance(0.12) else self.sizes[name] for name in names)
            if np.prod(shape) <= MOST_ELEMENTS:
                break
        dtype = self.pick(self.dtypes)
        name = self.fresh("x")
        fixed = self.chance(0.55)
        dims = [str(e) if fixed or e == 1 else n for n, e in zip(names, shape, strict=True)]
        self.pool.append(Term(name, self.data(dtype, shape), True))
        return f"{name}: asc.{dtype}[{', '.join(dims)}]"

    def data(self, dtype: str, shape: tuple[int, ...]) -> Any:
        if dtype == "bool":
            return self.rng.random(shape) < 0.5
        if dtype.startswith("float"):
            if self.whole:
                return self.rng.integers(-4, 5, shape).astype(dtype)
            values = self.rng.normal(0, 2, shape)
            special = self.rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-6], shape)
            return np.where(self.rng.random(shape) < 0.05, special, values).astype(dtype)
        info = np.iinfo(dtype)
        if self.chance(0.25):
            return self.rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        return self.rng.integers(max(info.min, -9), 10, shape).astype(dtype)

    def make(self, how: str, form: str, *terms: Term) -> Term:
        """The term of a form with `{0}`, `{1}` ... for the operands.

        `how` says what the result owes to NumPy: "bits", "sum" (exact for whole numbers of moderate size), "near", or
        "jump" (bits, of exact operands only). Raises _Invalid.
        """
        exact = all(term.exact for term in terms)
        if how == "jump" and not exact:
            raise _Invalid
        names = {f"v{k}": term.value for k, term in enumerate(terms)}
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = eval(form.format(*names), {"asc": asc, "np": np}, names)
        except (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError) as error:
            raise _Invalid from error
        value = np.asarray(value)
        if "asc.float64" not in form:
            wide, value = value, self.narrowed(value, terms)
            if how == "jump" and wide.dtype != value.dtype:  # float64 jumps elsewhere than float32
                raise _Invalid
        if "{0}." in form or any(word in form for word in _OF_ARRAYS):
            self.require_axes(terms[0])
        if value.size > MOST_ELEMENTS or value.dtype.name not in set(DTYPES) | {"uint64", "uint16"}:
            raise _Invalid
        rounded = self.rounds_integers(terms, value)
        if rounded and how == "jump":
            raise _Invalid
        if (
            rounded
            and how != "bits"
            and any(
                term.value.dtype.kind in "iu" and term.value.size and _largest(term.value) > 2**60
                for term in terms
            )
        ):
            raise _Invalid  # sums of squares are beyond float32, in which they are computed
        exact = exact and not rounded and how != "near" and (how != "sum" or _is_whole(value, terms))
        bound = max((term.bound for term in terms), default=0.0)
        if not exact:
            bound = max(bound, BOUNDS.get(value.dtype.name, 0.0))
        return Term(form.format(*(term.text for term in terms)), value, exact, bound)

    @staticmethod
    def require_axes(term: Term) -> None:
        """A number has no methods in a kernel. Raises _Invalid."""
        if not term.value.ndim:
            raise _Invalid

    @staticmethod
    def narrowed(value: Any, terms: Sequence[Term]) -> Any:
        """The result in the dtype that the language gives it."""
        if value.dtype == np.float64 and not any(term.dtype == "float64" for term in terms):
            with np.errstate(all="ignore"):
                return value.astype(np.float32)
        return value

    @staticmethod
    def rounds_integers(terms: Sequence[Term], value: Any) -> bool:
        """Whether integers that float32 does not hold became floats."""
        if value.dtype.kind != "f":
            return False
        limit = 2**11 if value.dtype == np.float16 else 2**24
        return any(t.value.dtype.kind in "iu" and t.value.size and _largest(t.value) > limit for t in terms)

    def term(self, room: int = 2) -> Term:
        """A name, or an operation written in place."""
        if room <= 0 or self.chance(0.5):
            return self.pick(self.pool)
        return self.operation(room - 1)

    def operation(self, room: int = 2) -> Term:
        """An operation that NumPy takes."""
        rules = self.rules()
        for _ in range(60):
            (name,) = self.random.choices(list(rules), [weight for weight, _ in rules.values()])
            try:
                found = rules[name][1](room)
            except _Invalid:
                continue
            self.features[name] += 1
            return found
        return self.pick(self.pool)

    def rules(self) -> dict[str, tuple[int, Callable[[int], Term]]]:
        """The operations, with weights."""
        return {
            "arithmetic": (10, self.arithmetic),
            "arithmetic with number": (6, self.with_number),
            "bits": (2, self.bits),
            "compare": (3, self.compare),
            "unary": (3, self.unary),
            "function": (4, self.function),
            "approximate function": (2, self.approximate),
            "pair function": (2, self.pair_function),
            "where": (4, self.where),
            "slice": (8, self.sliced),
            "gather": (2, self.gather),
            "reduce": (7, self.reduce),
            "arg": (2, self.arg),
            "scan": (2, self.scan),
            "mean var": (2, self.statistics),
            "transpose": (4, self.transpose),
            "reshape": (4, self.reshape),
            "join": (3, self.join),
            "product": (4, self.product),
            "astype": (3, self.astype),
            "create": (2, self.create),
            "activation": (1, self.activation),
            "clip": (1, self.clip),
        }

    def statement(self, given: list[Term]) -> None:
        """A new name, or an assignment through an index."""
        if self.chance(0.2):
            try:
                return self.assign_through(given)
            except _Invalid:
                pass
        term = self.operation(3)
        name = self.fresh("t")
        self.put(1, f"{name} = {term.text}")
        self.pool.append(replace(term, text=name))
        return None

    def assign_through(self, given: list[Term]) -> None:
        """A store into a part of an array, which all names for that memory see."""
        target = self.pick([t for t in self.pool if t.value.ndim])
        if not target.value.flags.writeable or (target not in given and target.value.base is not None):
            raise _Invalid
        subscript = self.subscript(target)
        value = self.term(1)
        if not (value.exact and target.exact) or value.value.dtype != target.value.dtype:
            raise _Invalid
        sign = self.pick(("=", "=", "+=", "*=", "-="))
        scope = {"v0": target.value, "v1": value.value.copy()}
        try:
            with np.errstate(all="ignore"):
                exec(f"v0[{subscript}] {sign} v1", {}, scope)
        except (ValueError, TypeError, IndexError) as error:
            raise _Invalid from error
        self.features["assign through index"] += 1
        self.put(1, f"{target.text}[{subscript}] {sign} {value.text}")

    def arithmetic(self, room: int) -> Term:
        sign = self.pick(("+", "+", "-", "*", "*", "/", "//", "%"))
        how = "jump" if sign in ("//", "%") else "bits"
        return self.make(how, f"({{0}} {sign} {{1}})", self.term(room), self.term(room))

    def with_number(self, room: int) -> Term:
        a = self.term(room)
        number = self.pick(
            ("1", "2", "3", "7") if a.value.dtype.kind in "ui" else ("0.5", "2.0", "3", "1.5", "0.1")
        )
        sign = self.pick(("+", "-", "*", "/", "//", "%", "**"))
        if sign == "**" and a.dtype == "bool":  # NumPy squares bools as int8, and raises them to 3 as int64
            raise _Invalid
        if sign == "**":
            number = (
                self.pick(("2", "3", "1", "0")) if a.value.dtype.kind != "f" else self.pick(("2", "0.5", "1"))
            )
        how = "jump" if sign in ("//", "%") else "bits"
        forms = (
            f"({{0}} {sign} {number})",
            f"({number} {sign} {{0}})" if sign != "**" else f"({{0}} {sign} {number})",
        )
        return self.make(how, self.random.choices(forms, (3, 1))[0], a)

    def bits(self, room: int) -> Term:
        sign = self.pick(("&", "|", "^", "<<", ">>"))
        right = self.term(room) if sign in "&|^" else Term(str(self.random.randint(0, 4)), np.int64(0), True)
        left = self.term(room)
        if right.text.isdigit():
            return self.make("jump", f"({{0}} {sign} {right.text})", left)
        return self.make("jump", f"({{0}} {sign} {{1}})", left, right)

    def compare(self, room: int) -> Term:
        sign = self.pick(("<", "<=", ">", ">=", "==", "!="))
        if self.chance(0.4):
            return self.make("jump", f"({{0}} {sign} {self.random.randint(0, 3)})", self.term(room))
        return self.make("jump", f"({{0}} {sign} {{1}})", self.term(room), self.term(room))

    def unary(self, room: int) -> Term:
        return self.make("bits", self.pick(("(-{0})", "(~{0})", "abs({0})", "(+{0})")), self.term(room))

    def function(self, room: int) -> Term:
        name = self.pick(
            (
                "sqrt",
                "floor",
                "ceil",
                "trunc",
                "rint",
                "square",
                "sign",
                "isnan",
                "isfinite",
                "signbit",
                "abs",
                "negative",
                "logical_not",
                "relu",
            )
        )
        if name == "relu" and "bool" in [t.dtype for t in self.pool]:
            raise _Invalid
        smooth = name in ("sqrt", "square", "abs", "negative", "relu")
        return self.make("bits" if smooth else "jump", f"asc.{name}({{0}})", self.term(room))

    def approximate(self, room: int) -> Term:
        name = self.pick(("exp", "log1p", "tanh", "sin", "cos", "atan", "erf", "exp2", "expm1", "cbrt"))
        a = self.term(room)
        if a.value.dtype.kind != "f" or not a.value.size or not np.abs(a.value.astype(float)).max() < 8:
            raise _Invalid
        return self.make("near", f"asc.{name}({{0}})", a)

    def pair_function(self, room: int) -> Term:
        name = self.pick(
            ("minimum", "maximum", "minimum", "maximum", "copysign", "add", "multiply", "subtract")
        )
        return self.make(
            "jump" if name == "copysign" else "bits",
            f"asc.{name}({{0}}, {{1}})",
            self.term(room),
            self.term(room),
        )

    def where(self, room: int) -> Term:
        masks = [t for t in self.pool if t.dtype == "bool"]
        mask = self.pick(masks) if masks and self.chance(0.5) else self.compare(room)
        if self.chance(0.25):
            return self.make(
                "bits", f"asc.where({{0}}, {{1}}, {self.pick(('0', '1', '2'))})", mask, self.term(room)
            )
        return self.make("bits", "asc.where({0}, {1}, {2})", mask, self.term(room), self.term(room))

    def subscript(self, a: Term) -> str:
        """Slices, indices, `...` and `None` for some of the axes."""
        parts: list[str] = []
        axes = self.random.randint(1, a.value.ndim)
        for extent in a.shape[:axes]:
            parts.append(self.axis_subscript(extent))
        if self.chance(0.2):
            parts.insert(self.random.randint(0, len(parts)), "None")
        if axes < a.value.ndim and self.chance(0.3):
            parts.insert(0, "...")
        return ", ".join(parts)

    def axis_subscript(self, extent: int) -> str:
        if extent and self.chance(0.25):
            return str(self.random.randint(-extent, extent - 1))
        if self.chance(0.35):
            return self.pick((":", "::-1", "::2", "::-2"))
        start, stop = sorted((self.random.randint(0, extent + 2), self.random.randint(0, extent + 2)))
        if self.chance(0.4):
            return self.pick(
                (
                    f"{start}:",
                    f":{stop}",
                    f"{start - extent}:" if start < extent else ":",
                    f":{stop - extent}" if 0 < stop < extent else ":",
                )
            )
        if self.chance(0.2) and stop:
            return f"{stop - 1}:{start - 1}:-1" if start else f"{stop - 1}::-1"
        return f"{start}:{stop}{self.pick(('', '', ':2', ':3'))}"

    def sliced(self, room: int) -> Term:
        a = self.pick(self.pool) if self.chance(0.7) else self.term(room)
        if not a.value.ndim:
            raise _Invalid
        return self.make("bits", f"{{0}}[{self.subscript(a)}]", a)

    def gather(self, room: int) -> Term:
        a = self.pick(self.pool)
        numbers = [t for t in self.pool if t.value.dtype.kind in "iu" and t.value.ndim <= 2]
        if not a.value.ndim or not numbers or not a.shape[0]:
            raise _Invalid
        index = self.pick(numbers)
        form = self.pick(
            (f"{{0}}[({{1}} % {a.shape[0]})]", f"asc.take({{0}}, ({{1}} % {a.shape[0]}), axis=0)")
        )
        return self.make("bits", form, a, index)

    def axes(self, a: Term, many: bool = True) -> str:
        """An `axis` argument, or none."""
        rank = a.value.ndim
        if not rank or self.chance(0.25):
            return ""
        if many and rank > 1 and self.chance(0.25):
            chosen = self.random.sample(range(rank), 2)
            return f", axis=({chosen[0]}, {chosen[1] - rank if self.chance(0.3) else chosen[1]})"
        return f", axis={self.random.randint(-rank, rank - 1)}"

    def keep(self) -> str:
        return ", keepdims=True" if self.chance(0.25) else ""

    def reduce(self, room: int) -> Term:
        name = self.pick(("sum", "sum", "sum", "max", "min", "max", "min", "prod", "any", "all"))
        a = self.term(room)
        how = {"sum": "sum", "prod": "sum", "any": "jump", "all": "jump"}.get(name, "bits")
        axis, keep = self.axes(a), self.keep()
        if self.chance(0.4) and name != "prod":
            return self.make(how, f"{{0}}.{name}({(axis + keep)[2:]})", a)
        return self.make(how, f"asc.{name}({{0}}{axis}{keep})", a)

    def arg(self, room: int) -> Term:
        a = self.term(room)
        return self.make(
            "jump", f"asc.{self.pick(('argmax', 'argmin'))}({{0}}{self.axes(a, False)}{self.keep()})", a
        )

    def scan(self, room: int) -> Term:
        a = self.term(room)
        if a.dtype == "float16":
            raise _Invalid
        axis = (
            self.axes(a, False)
            if a.value.ndim == 1
            else f", axis={self.random.randint(-1, max(a.value.ndim - 1, 0))}"
        )
        return self.make("sum", f"asc.{self.pick(('cumsum', 'cumsum', 'cumprod'))}({{0}}{axis})", a)

    def statistics(self, room: int) -> Term:
        a = self.term(room)
        if not np.isfinite(a.value).all():
            raise _Invalid
        return self.make(
            "near", f"asc.{self.pick(('mean', 'mean', 'var', 'std'))}({{0}}{self.axes(a)}{self.keep()})", a
        )

    def transpose(self, room: int) -> Term:
        a = self.term(room)
        if a.value.ndim > 1 and self.chance(0.5):
            order = self.random.sample(range(a.value.ndim), a.value.ndim)
            axes = f"({', '.join(map(str, order))})"
            return self.make(
                "bits", self.pick((f"{{0}}.transpose{axes}", f"asc.transpose({{0}}, {axes})")), a
            )
        return self.make("bits", "{0}.T", a)

    def reshape(self, room: int) -> Term:
        a = self.term(room)
        size = a.value.size
        options = ["{0}.reshape(-1)", "{0}.ravel()", "{0}.flatten()"] if size else ["{0}.ravel()"]
        for d in (2, 3, 5, 7, 8):
            if size and size % d == 0:
                options += [f"{{0}}.reshape({d}, {size // d})", f"asc.reshape({{0}}, (-1, {d}))"]
        options.append("{0}[None]")
        made = self.make("bits", self.pick(options), a)
        # Where NumPy gives a second name for the memory, kernels give a new array.
        return replace(made, value=made.value.copy()) if "None" not in made.text[-7:] else made

    def join(self, room: int) -> Term:
        a = self.term(room)
        alike = [t for t in self.pool if t.dtype == a.dtype and t.value.ndim == a.value.ndim]
        b = self.pick(alike) if alike else a
        axis = self.random.randint(-a.value.ndim, max(a.value.ndim - 1, 0))
        name = self.pick(("concatenate", "concatenate", "stack"))
        return self.make("bits", f"asc.{name}(({{0}}, {{1}}), axis={axis})", a, b)

    def product(self, room: int) -> Term:
        a, b = self.term(room), self.term(room)
        if a.dtype != b.dtype or a.dtype == "bool":
            raise _Invalid
        forms = ["({0} @ {1})", "({0} @ {1}.T)", "({0}.T @ {1})", "asc.matmul({0}, {1})"]
        if a.value.ndim == b.value.ndim == 2:
            forms += [
                "asc.dot({0}, {1})",
                "asc.einsum('ij,jk->ik', {0}, {1})",
                "asc.einsum('ij,ij->j', {0}, {1})",
            ]
        if a.value.ndim == b.value.ndim == 1:
            forms += ["asc.einsum('i,j->ij', {0}, {1})", "asc.dot({0}, {1})"]
        return self.make("sum", self.pick(forms), a, b)

    def astype(self, room: int) -> Term:
        a = self.term(room)
        dtype = self.pick(self.dtypes)
        if a.value.dtype.kind == "f" and np.dtype(dtype).kind in "iu":
            low, high = (0, 100) if dtype[0] == "u" else (-100, 100)
            if not a.value.size or not (low <= a.value.min() and a.value.max() <= high):
                raise _Invalid
            return self.make("jump", f"{{0}}.astype(asc.{dtype})", a)
        return self.make("jump" if dtype == "bool" else "bits", f"{{0}}.astype(asc.{dtype})", a)

    def create(self, room: int) -> Term:
        n = self.random.randint(1, 9)
        dtype = self.pick(("float32", "int32", "float16", "int64"))
        return self.make(
            "bits",
            self.pick(
                (
                    f"asc.zeros(({n}, {self.random.randint(1, 5)}), dtype=asc.{dtype})",
                    f"asc.ones({n}, dtype=asc.{dtype})",
                    f"asc.full({n}, 3, dtype=asc.{dtype})",
                    f"asc.arange({n}, dtype=asc.{dtype})",
                    f"asc.arange({self.random.randint(-5, 5)}, {n + 5}, {self.random.randint(1, 3)})",
                    f"asc.eye({n}, dtype=asc.{dtype})",
                )
            ),
        )

    def activation(self, room: int) -> Term:
        a = self.term(room)
        if a.value.dtype.kind != "f" or not a.value.size or not np.abs(a.value.astype(float)).max() < 8:
            raise _Invalid
        return self.make(
            "near", f"asc.{self.pick(('softmax', 'sigmoid', 'silu', 'gelu', 'log_softmax'))}({{0}})", a
        )

    def clip(self, room: int) -> Term:
        return self.make("bits", f"asc.clip({{0}}, {self.pick(('0', '1'))}, 3)", self.term(room))


def _largest(values: Any) -> int:
    return max(abs(int(values.max())), abs(int(values.min())))


def _is_whole(value: Any, terms: Sequence[Term]) -> bool:
    """Whether a sum is exact in any order: whole numbers that the dtype, and that of the operands, holds."""
    if value.dtype.kind != "f":
        return True
    floats = [value, *(t.value for t in terms if t.value.dtype.kind == "f")]
    limit = min(_EXACT_LIMIT[v.dtype.name] for v in floats)
    with np.errstate(all="ignore"):
        absolute = [np.abs(v.astype(np.float64)) for v in floats]
        largest = max((float(a.max()) for a in absolute if a.size), default=0.0)
        count = max((v.size for v in floats), default=1)
        whole = all(bool(np.array_equal(a, np.rint(a))) for a in absolute)
    return whole and largest * largest * max(count, 1) < limit
