# SPDX-License-Identifier: Apache-2.0
"""Programs that make a view (or what NumPy makes one of) and store through one of both names."""

from __future__ import annotations

from typing import Any

import numpy as np

HEAD = """import numpy as np
import pyasc as asc


def put(t, s):
    t[...] = s


def put_by_another_name(t, s):
    u = t
    u[...] = s


def add_one(t):
    t += 1


def add_one_by_another_name(t):
    u = t
    u += 1


def same(t):
    return t


def flat(t):
    return t.reshape(-1)


"""

BASES = {
    "parameter": "b = x",
    "part of a parameter": "b = z[1]",
    "strided": "b = w[:, ::2]",
    "zeros": "b = asc.zeros((4, 6))\nb[...] = x",
    "empty": "b = asc.empty((4, 6))\nb[...] = x",
    "computed": "b = x + 1",
    "shared memory": "b = asc.shared_memory((4, 6), asc.float32)\nasc.copy(x, b)",
    "never stored to": "b = asc.zeros((4, 6))",
    "two names": "b = e = x * 2",
    "view of a computed array": "b = (x * 2)[:, ::-1]",
    "item of a tuple": "b = (x * 2, 1)[0]",
    "bound twice": "b = x * 2\nb = b + 1",
    "reshaped": "b = x.reshape(24).reshape(4, 6)",
}

VIEWS = {
    "name": "b",
    "T": "b.T",
    "transpose": "asc.transpose(b, (1, 0))",
    "slice": "b[1:3]",
    "columns": "b[:, 1:4]",
    "steps": "b[::2, ::-1]",
    "row": "b[2]",
    "last row": "b[-1]",
    "column": "b[:, 2]",
    "None": "b[None]",
    "None inside": "b[:, None, 1]",
    "ellipsis": "b[...]",
    "split": "asc.split(b, 2)[1]",
    "einsum": "asc.einsum('ij->ji', b)",
    "helper": "same(b)",
    "choice": "(b if c > 0 else b)",
    "tuple": "(b.T, 1)[0]",
    "list": "[b[0], b[1]][1]",
    "comprehension": "[r for r in (b[0], b[1])][0]",
    "walrus": "(q := b.T)",
    "lambda": "(lambda t: t.T)(b)",
}
"""What names the same memory here as it does in NumPy."""

COPIED = {
    "reshape": "b.reshape(-1)",
    "reshape to two axes": "b.reshape((2, 12))",
    "asc.reshape": "asc.reshape(b, (24,))",
    "ravel": "b.ravel()",
    "reshape of a slice": "b[1:3].reshape(-1)",
    "reshape of a row": "b[1].reshape(2, 3)",
    "reshape of a column": "b[:, 1].reshape(2, 2)",
    "slice of a reshape": "b.reshape(-1)[3:9]",
    "transpose of a reshape": "b.reshape(6, 4).T",
    "twice": "b.reshape(-1).reshape(3, 8)",
    "helper that reshapes": "flat(b)",
    "broadcast_to": "asc.broadcast_to(b, (2, 4, 6))",
    "broadcast_to of a row": "asc.broadcast_to(b[0], (3, 6))",
}
"""Views in NumPy that are copies here."""

COPIES = {
    "flatten": "b.flatten()",
    "copy": "b.copy()",
    "copy of a reshape": "b.reshape(-1).copy()",
    "flatten of a reshape": "b.reshape(6, 4).flatten()",
    "plus": "+b",
    "astype": "b.astype(asc.float32)",
    "clip": "asc.clip(b, None, None)",
    "take": "asc.take(b, np.int64(1), 0)",
    "abs": "abs(b)",
}
"""Copies in NumPy too. (NumPy copies where it reshapes a transposed array as well; here it counts as a view.)"""

ACTIONS = {
    "elements of the base": "v = {V}\nb[0, 0] = 100.0\nb[2, 2] = 200.0\nb[3, 5] = 300.0\nb[1, 1] = 50.0",
    "all of the base": "v = {V}\nb[...] = 7.0",
    "rows of the base": "v = {V}\nfor i in range(4):\n    b[i] = i",
    "all of the view": "v = {V}\nv[...] = 7.0",
    "part of the view": "v = {V}\nv[0] = 7.0",
    "update of a part": "v = {V}\nv[0] += 7.0",
    "update of the view": "v = {V}\nv += 1",
    "update of the base": "v = {V}\nb += 1",
    "update of a slice": "v = {V}\nb[0:2] *= 2",
    "helper stores": "v = {V}\nput({V}, 5.0)",
    "helper stores by name": "v = {V}\nput(v, 5.0)",
    "helper has two names": "v = {V}\nput_by_another_name(v, 5.0)",
    "helper updates": "v = {V}\nadd_one(v)",
    "helper updates an expression": "v = {V}\nadd_one({V})",
    "helper updates by another name": "v = {V}\nadd_one_by_another_name(v)",
    "store in a loop": "v = {V}\nfor i in range(2):\n    b[i, i] += asc.sum(v)",
    "second name in a loop": "v = {V}\nu = v\nfor i in range(2):\n    u += 1",
    "view in a loop": "v = {V}\nfor i in range(2):\n    put({V}, i)",
    "store under a condition": "v = {V}\nif c > 0:\n    b[1, 1] = 70.0\n    b[0, 0] = 70.0",
    "update under a condition": "v = {V}\nif c > 0:\n    v += 1",
    "item of a tuple": "v = {V}\nt = (v, b)\nt[0][...] = 9.0",
    "two names at once": "v, u = {V}, b\nu[...] = 9.0",
    "chained": "u = v = {V}\nu += 1",
    "chained, stored to": "u = v = {V}\nu[...] = 8.0",
    "view of the view": "v = {V}\nu = v[0:1]\nu += 1",
    "exchanged": "v = {V}\nu = {V}\nu, v = v, u\nu += 1",
    "mask": "v = {V}\nv[v > 2] = 0.0",
    "mask of the base": "v = {V}\nb[b > 2] = 0.0",
    "fill": "v = {V}\nv.fill(3.0)",
    "nested function": "v = {V}\ndef f():\n    v[...] = 4.0\nf()",
    "nested function updates": "v = {V}\ndef f(t):\n    t += 4.0\nf(v)",
    "atomic": "v = {V}\nasc.atomic_add(b, (0, 0), 4.0)\nasc.atomic_add(b, (2, 2), 4.0)",
    "copy": "v = {V}\nasc.copy(b * 2, b)",
    "rows of the view": "v = {V}\nfor r in v:\n    r += 1",
    "rows of the base as names": "v = {V}\nfor r in b:\n    r += 1",
    "old name": "v = {V}\nu = v\nv = b * 1\nu += 1",
    "view that is gone": "v = {V}\ns = asc.sum(v)\nb[0, 0] = s\nv = b * 1",
    "walrus": "v = {V}\nasc.sum(u := v)\nu += 1",
    "lambda": "v = {V}\n(lambda t: t.fill(2.0))(v)",
}


def program(base: str, view: str, action: str, name: str = "k") -> str:
    """A function that does this and gives the view, the base and all parameters as they are afterwards."""
    body = [*base.splitlines(), *action.replace("{V}", view).splitlines()]
    body.append("return v + 0, b + 0, x + 0, z + 0, w + 0")
    sizes = "x: asc.float32[4, 6], z: asc.float32[2, 4, 6], w: asc.float32[4, 12], c: int"
    return f"def {name}({sizes}):\n" + "".join(f"    {line}\n" for line in body)


def arguments() -> tuple[Any, ...]:
    """Arguments of a program."""
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    return (
        x,
        np.arange(48, dtype=np.float32).reshape(2, 4, 6) - 9,
        np.arange(48, dtype=np.float32).reshape(4, 12),
        1,
    )


def in_numpy(text: str, name: str = "k") -> tuple[Any, ...] | Exception:
    """What Python and NumPy make of a program: results, then arguments; or the exception that it raises."""
    names: dict[str, Any] = {}
    exec(HEAD + text, names)
    given = arguments()
    try:
        return *names[name](*given), *given[:3]
    except Exception as error:
        return error
