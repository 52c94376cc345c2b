# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic as polynomials over sizes, counters and opaque values, and as affine maps of a loop nest.

Two views of one i64 value:

- `Polynomials.of(value)` always answers, with a `SizeExpr` whose names are symbolic sizes, or `%k` for an SSA
  value that is not arithmetic (a counter, a parameter, a loaded index). Equal polynomials mean equal values.
- `Nest.expr(value)` answers with an affine expression over the counters of a nest and SSA values from outside
  of it, or None; `Nest.map(indices)` does so for a whole access.

Arithmetic on i64 wraps; a polynomial equals its value modulo 2**64. See `ranges` for what that means to proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import reduce

from pyasc.ir import affine, dtypes, sizes
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, func, mem, scf, tensor
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType, TensorType

_POLYNOMIAL = frozenset(("add", "sub", "mul", "neg"))

MAX_TERMS = 24
"""A polynomial with more terms is not expanded further: its value becomes a name of its own."""


def constant_of(value: Value) -> bool | int | float | None:
    """The number when a constant operation defines the value, else None."""
    op = value.owner
    return op.value if isinstance(op, arith.Constant) else None


def integer_of(value: Value) -> int | None:
    """The integer when an integer constant defines the value, else None."""
    number = constant_of(value)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


class Polynomials:
    """The polynomial of each i64 value of a function, computed once.

    `atoms` maps the names `%k` back to the values they stand for.
    """

    def __init__(self) -> None:
        self.atoms: dict[str, Value] = {}
        self._known: dict[Value, SizeExpr] = {}

    def of(self, value: Value) -> SizeExpr:
        """The polynomial of an i64 value."""
        known = self._known
        if value not in known:
            for each in _inputs_first(value, known, _inputs):
                known[each] = self._compute(each)
        return known[value]

    def atom(self, value: Value) -> SizeExpr:
        """The value as a name of its own."""
        name = f"%{len(self.atoms)}"
        self.atoms[name] = value
        return sizes.size(name)

    def _compute(self, value: Value) -> SizeExpr:
        match value.owner:
            case arith.Constant(value=int(number)):
                return sizes.constant(number)
            case func.Size(symbol=symbol):
                return sizes.size(symbol)
            case mem.Dim() | tensor.Dim() as op:
                return self._extent(op, value)
            case arith.Elementwise() as op:
                return self._arithmetic(op, value)
            case _:
                forwarded = _forwarded(value)
                return self.atom(value) if forwarded is None else self._known[forwarded]

    def _extent(self, op: mem.Dim | tensor.Dim, value: Value) -> SizeExpr:
        extent = self.extent(op.operands[0], op.axis)
        return self.atom(value) if extent is None else extent

    def extent(self, ref: Value, axis: int) -> SizeExpr | None:
        """The extent of one axis of a ref or tensor, or None when only the run time knows it."""
        assert isinstance(ref.type, (RefType, TensorType))
        extent = ref.type.shape[axis]
        if extent is not None:
            return sizes.lift(extent)
        source = extent_operand(ref, axis)
        return None if source is None else self.of(source)

    def _arithmetic(self, op: arith.Elementwise, value: Value) -> SizeExpr:
        if op.fn not in _POLYNOMIAL:
            return self.atom(value)
        parts = [self._known[arg] for arg in op.operands]
        match op.fn:
            case "add":
                made = parts[0] + parts[1]
            case "sub":
                made = parts[0] - parts[1]
            case "mul" if len(parts[0].terms) * len(parts[1].terms) <= MAX_TERMS:
                made = parts[0] * parts[1]
            case "neg":
                made = parts[0] * -1
            case _:
                return self.atom(value)
        return made if len(made.terms) <= MAX_TERMS else self.atom(value)


class Nest:
    """Affine forms of values inside a loop nest.

    `counters` become iterators d0, d1, ... in order; values defined outside of `root` (the outermost loop)
    become symbols s0, s1, ..., collected in `symbols` as they are met, so that all accesses of the nest share
    one list.
    """

    def __init__(self, counters: Sequence[Value], root: Operation) -> None:
        self.counters = tuple(counters)
        self.root = root
        self.symbols: list[Value] = []
        self._known: dict[Value, AffineExpr | None] = {
            counter: affine.dim(i) for i, counter in enumerate(counters)
        }
        self._symbol_numbers: dict[Value, int] = {}
        self._inside: dict[Block, bool] = {}

    def expr(self, value: Value) -> AffineExpr | None:
        """The value as an affine expression, or None when it is not affine in the counters."""
        known = self._known
        if value not in known:
            for each in _inputs_first(value, known, _affine_inputs):
                known[each] = self._compute(each)
        return known[value]

    def map(self, indices: Iterable[Value]) -> AffineMap | None:
        """The indices of an access as a map, or None when any of them is not affine."""
        made: list[AffineExpr] = []
        for index in indices:
            expr = self.expr(index)
            if expr is None:
                return None
            made.append(expr)
        return AffineMap(tuple(made))

    def is_invariant(self, value: Value) -> bool:
        """Whether the value is defined outside of the nest."""
        return not self._stands_inside(value.block)

    def _stands_inside(self, block: Block | None) -> bool:
        if block is None:
            return False
        known = self._inside.get(block)
        if known is None:
            parent = block.parent_op
            known = parent is self.root or (parent is not None and self._stands_inside(parent.parent))
            self._inside[block] = known
        return known

    def _compute(self, value: Value) -> AffineExpr | None:
        match value.owner:
            case arith.Constant(value=int(number)):
                return affine.const(number)
            case arith.Elementwise() as op:
                made = self._arithmetic(op)
                if made is not None:
                    return made
            case _:
                pass
        return self.symbol(value) if self.is_invariant(value) else None

    def _arithmetic(self, op: arith.Elementwise) -> AffineExpr | None:
        match op.fn:
            case "add" | "sub":
                left, right = (self._known[arg] for arg in op.operands)
                if left is None or right is None:
                    return None
                return left + right if op.fn == "add" else left - right
            case "mul":
                return self._product(*op.operands)
            case "neg":
                inner = self._known[op.operands[0]]
                return None if inner is None else inner * -1
            case _:
                return None

    def _product(self, left: Value, right: Value) -> AffineExpr | None:
        for factor, other in ((left, right), (right, left)):
            number = integer_of(factor)
            inner = self._known.get(other) if number is not None else None
            if number is not None and inner is not None:
                return inner * number
        return None

    def adopt(self, values: Sequence[Value]) -> None:
        """Number values as symbols as they stand, repeated ones too, so that maps made for that list stay true."""
        for value in values:
            self._symbol_numbers.setdefault(value, len(self.symbols))
            self.symbols.append(value)

    def symbol(self, value: Value) -> AffineExpr:
        """The value as a symbol of its own, numbered when it is first met."""
        number = self._symbol_numbers.get(value)
        if number is None:
            number = self._symbol_numbers[value] = len(self.symbols)
            self.symbols.append(value)
        return affine.symbol(number)


def _inputs_first(
    value: Value, known: Container[Value], inputs: Callable[[Value], Sequence[Value]]
) -> Iterator[Value]:
    """The value and what its form is made from, inputs before users, without the known ones.

    Keeps its own stack: a chain of additions may be thousands long.
    """
    stack = [value]
    while stack:
        pending = [] if stack[-1] in known else [each for each in inputs(stack[-1]) if each not in known]
        if pending:
            stack += reversed(pending)
        elif stack[-1] in known:
            stack.pop()
        else:
            yield stack.pop()


def _inputs(value: Value) -> Sequence[Value]:
    """The values that the form of a value is made from."""
    op = value.owner
    if isinstance(op, arith.Elementwise):
        return op.operands if op.fn in _POLYNOMIAL else ()
    forwarded = _forwarded(value)
    return () if forwarded is None else (forwarded,)


def _affine_inputs(value: Value) -> Sequence[Value]:
    """Those of `_inputs` that an affine form may use: no factors of a product without a constant."""
    op = value.owner
    if isinstance(op, arith.Elementwise) and op.fn == "mul":
        return op.operands if any(integer_of(factor) is not None for factor in op.operands) else ()
    return _inputs(value) if isinstance(op, arith.Elementwise) else ()


def _forwarded(value: Value) -> Value | None:
    """What a while loop's condition passes to an argument of its `after` block: the same value by another name."""
    block = value.owner
    if (
        isinstance(block, Block)
        and isinstance(loop := block.parent_op, scf.While)
        and block is loop.after.block
    ):
        return loop.before.block.terminator.operands[1 + value.index]
    return None


def extent_operand(ref: Value, axis: int) -> Value | None:
    """The operand that gives an extent which the type leaves open, where the defining operation has one."""
    match ref.owner:
        case mem.Alloc(sizes=given):
            assert isinstance(ref.type, RefType)
            is_open = ref.type.shape[axis] is None
            return given[ref.type.shape[:axis].count(None)] if is_open else None
        case mem.View(sizes=given, axes=axes) if axes[axis] >= 0:
            return given[axes[axis]]
        case _:
            return None


def enclosing_loops(op: Operation, stop: Operation | None = None) -> list[scf.For]:
    """The counted loops around an operation, outermost first, up to but not including `stop`."""
    loops: list[scf.For] = []
    for parent in op.ancestors():
        if parent is stop:
            break
        if isinstance(parent, scf.For):
            loops.append(parent)
    return loops[::-1]


def materialise(expr: AffineExpr, dims: Sequence[Value], symbols: Sequence[Value], at: Builder) -> Value:
    """Operations that compute an affine expression, inserted by the builder."""
    terms = [(c, dims[i]) for i, c in enumerate(expr.dims) if c]
    terms += [(c, symbols[i]) for i, c in enumerate(expr.symbols) if c]
    # What is added comes first, so that a reversed index reads `63 - j`.
    adds, subtracts = [t for t in terms if t[0] > 0], [t for t in terms if t[0] < 0]
    leading = expr.constant > 0 and not adds
    total = index(at, expr.constant) if leading or not terms else None
    for coefficient, value in (*adds, *subtracts):
        term = value if abs(coefficient) == 1 else _binary(at, "mul", value, index(at, abs(coefficient)))
        if total is None:
            total = term if coefficient > 0 else at.value(arith.Elementwise(fn="neg", args=[term]))
        else:
            total = _binary(at, "add" if coefficient > 0 else "sub", total, term)
    assert total is not None
    if leading or not terms or not expr.constant:
        return total
    return _binary(at, "add", total, index(at, expr.constant))


def materialise_polynomial(expr: SizeExpr, value_of: Callable[[str], Value], at: Builder) -> Value:
    """Operations that compute a polynomial from the values of its names, inserted by the builder."""
    total: Value | None = None
    for monomial, coefficient in sorted(expr.terms, key=lambda term: term[1] < 0):
        factors = [value_of(name) for name in monomial]
        if not factors or abs(coefficient) != 1:
            factors.append(index(at, abs(coefficient)))
        term = reduce(lambda a, b: _binary(at, "mul", a, b), factors)
        if total is None:
            total = term if coefficient > 0 else at.value(arith.Elementwise(fn="neg", args=[term]))
        else:
            total = _binary(at, "add" if coefficient > 0 else "sub", total, term)
    return index(at, 0) if total is None else total


def index(at: Builder, number: int) -> Value:
    """An i64 constant."""
    return at.value(arith.Constant.of(number, dtypes.i64))


def _binary(at: Builder, fn: str, left: Value, right: Value) -> Value:
    return at.value(arith.Elementwise(fn=fn, args=[left, right]))
