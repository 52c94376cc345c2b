# SPDX-License-Identifier: Apache-2.0
"""The register of error codes: what each stands for, and what to do where a message has no better advice.

Each has a page in `docs/errors`, made from the kernels of `tests/errors`; `pyasc explain CODE` prints it.
"""

from __future__ import annotations

from pyasc.ir.record import Record


class Code(Record):
    """One kind of mistake. `title` names it, `hint` is the advice of a message that brings none of its own."""

    title: str
    hint: str


CODES: dict[str, Code] = {
    "PA0101": Code(
        "the source of a function cannot be found",
        "define it in a file or a notebook cell, or use asc.kernel_from_source(text)",
    ),
    "PA0102": Code("the source has changed since it was loaded", "load the module again"),
    "PA0103": Code("the text is not Python", "correct the syntax at the caret"),
    "PA0104": Code("not a function with a text of its own", "write it with `def`"),
    "PA0201": Code("a function that takes any number of arguments", "name each parameter"),
    "PA0202": Code(
        "a construct that kernels do not have",
        "do it outside of the kernel and pass the result as a parameter",
    ),
    "PA0203": Code("an attribute is assigned to", "assign to elements: x[...] = value"),
    "PA0204": Code(
        "a decorated function inside a kernel", "leave the decorator out, or move the function out"
    ),
    "PA0205": Code("a form of indexing that kernels do not have", "write the loop over elements out"),
    "PA0206": Code(
        "the step of a slice is not known when the kernel is compiled",
        "use a constant step, an asc.constexpr parameter, or a loop over elements",
    ),
    "PA0207": Code("`is` or `in` where a kernel has no objects", "use `==`"),
    "PA0208": Code("rounding to decimal places", "scale, round and scale back"),
    "PA0209": Code(
        "a function that kernels cannot call",
        "call functions of pyasc, of math, or Python functions with source",
    ),
    "PA0210": Code(
        "a nested function is called after the function around it has ended",
        "call it where it is defined, or pass what it reads as arguments",
    ),
    "PA0301": Code("a name that is not defined", "assign it before, make it a parameter, or import it"),
    "PA0302": Code("a name that may have no value", "set it before, so that every path gives it a value"),
    "PA0303": Code("a function calls itself", "write it as a loop"),
    "PA0305": Code(
        "a name or result with different kinds of values on different paths",
        "give it the same kind of value on every path",
    ),
    "PA0306": Code(
        "something that cannot be looped over",
        "loop over range(...), an array, a tuple, or zip, enumerate, reversed",
    ),
    "PA0307": Code(
        "a length that is not known when the kernel is compiled",
        "use a constant, an asc.constexpr parameter, or a loop that stores into an array",
    ),
    "PA0309": Code("a loop that never ends", "leave it with `break` or `return`"),
    "PA0310": Code(
        "an object from outside that a kernel cannot hold", "pass an array as a parameter, a table as a tuple"
    ),
    "PA0311": Code(
        "an attribute or a method that does not exist", "see the list of functions and methods in the docs"
    ),
    "PA0312": Code(
        "a function that returns a value on some paths only", "end it with a `return` that gives a value"
    ),
    "PA0401": Code(
        "an annotation or element type that kernels do not have",
        "write asc.float32, asc.float32[N], asc.tensor, asc.constexpr, int, float, bool or none",
    ),
    "PA0402": Code(
        "a value of the wrong kind",
        "kernels compute with numbers, arrays and tuples of these: use one of them here",
    ),
    "PA0403": Code("a constant that does not fit its type", "convert the other operand to a wider type"),
    "PA0404": Code("an integer is needed", "convert with int(...), or use // for a quotient"),
    "PA0405": Code("the truth value of an array", "use asc.any(...), asc.all(...) or asc.where(...)"),
    "PA0406": Code(
        "a constant expression that cannot be computed",
        "correct the constants: they are known when the kernel is compiled",
    ),
    "PA0407": Code(
        "an operation that is not defined on these types", "convert the operands to types that have it"
    ),
    "PA0408": Code(
        "arguments that do not fit the function", "give it the arguments that its definition names"
    ),
    "PA0409": Code(
        "an update that would change the type of an array",
        "write x = x + y for a new array, or convert the right side",
    ),
    "PA0410": Code(
        "something stored that an element cannot hold", "store a number, or an array into a slice"
    ),
    "PA0411": Code(
        "something called that is no function", "use an operator, or call the function that was meant"
    ),
    "PA0412": Code(
        "an argument of a helper with another type than declared", "convert it, or change the declaration"
    ),
    "PA0413": Code(
        "a result with another type than declared", "convert the value, or change the declaration"
    ),
    "PA0501": Code(
        "a shape in an annotation that is not one",
        "a size is an integer, a name, a sum, difference or product of these, or a leading `...`",
    ),
    "PA0502": Code("shapes that do not fit together", "make the sizes equal, or one of them 1"),
    "PA0503": Code("a step of 0", "use a step above or below 0"),
    "PA0504": Code("an index out of range", "use an index from -size to size - 1"),
    "PA0505": Code("indices that the value does not have", "use one index for each dimension"),
    "PA0506": Code("a size that is not possible", "make the number of elements the same on both sides"),
    "PA0507": Code("an alignment that is not possible", "use a constant power of two, such as 32"),
    "PA0508": Code(
        "an array with another number of dimensions than asserted", "correct the shape that is asserted"
    ),
    "PA0509": Code(
        "axes that the array does not have", "use constant axes from -dimensions to dimensions - 1"
    ),
    "PA0510": Code(
        "the minimum or maximum of nothing", "start from a value: asc.concatenate, or a loop over elements"
    ),
    "PA0511": Code(
        "a result whose shape is known only when it has been computed",
        "declare it: -> asc.float32[...] with sizes of the parameters",
    ),
    "PA0512": Code(
        "a result with another shape than declared", "change the declaration, or reshape the result"
    ),
    "PA0513": Code(
        "a store that NumPy would show in an array of another shape",
        "index the original array, or make a copy of it: x.reshape(...).copy()",
    ),
    "PA0601": Code(
        "a value carried from one iteration of a parallel loop to the next",
        "use range for a sequential loop, or an array with one element for each iteration",
    ),
    "PA0602": Code("a jump out of a parallel loop", "use range for a sequential loop"),
    "PA0603": Code(
        "iterations of a parallel loop that touch the same elements",
        "use range for a sequential loop, or write to an array that the loop does not read",
    ),
    "PA0604": Code(
        "iterations of a parallel loop that may update one element at once",
        "use asc.atomic_add (atomic_max, atomic_min), or range for a sequential loop",
    ),
    "PA0702": Code(
        "a statement that nests too deeply", "move a part into a helper, or into names of its own"
    ),
    "PA0703": Code(
        "a loop or tuple that is written out too often", "use range, or unroll an inner loop alone"
    ),
}
"""From the code to what it stands for, in the order of the codes."""
