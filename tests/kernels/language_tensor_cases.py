# SPDX-License-Identifier: Apache-2.0
"""The rows of the language page about arrays, as cases."""

from __future__ import annotations

from itertools import combinations

from tests.kernels.language_support import ALL, FLOATS, INTS, NUMBERS, Case

_ARITHMETIC = "+ - * / // %".split()
_BITS = "& | ^ << >>".split()
_COMPARE = "< <= > >= == !=".split()


def elementwise() -> list[Case]:
    """Every operator on every type, with the edges of the types in all combinations."""
    cases: list[Case] = []
    for dtype in NUMBERS:
        both = (dtype, dtype)
        cases += [Case(f"a {op} b", both, ulps=_division_ulps(op, dtype)) for op in _ARITHMETIC]
        cases += [Case(f"a {op} b", both) for op in _COMPARE]
        cases += [Case(f"np.{fn}(a, b)", both) for fn in ("minimum", "maximum", "logical_and", "logical_xor")]
        cases += [Case(f"np.where(a {op} b, a, b)", both) for op in ("<", "!=")]
    for dtype in (*INTS, "bool"):
        cases += [Case(f"a {op} b", (dtype, dtype)) for op in _BITS if dtype != "bool" or op in "&|^"]
    for dtype in FLOATS:
        cases += [Case(f"np.{fn}(a, b)", (dtype, dtype)) for fn in ("copysign", "fmod")]
    return cases


def _division_ulps(op: str, dtype: str) -> float:
    """Quotients of integers are computed in float32, by NumPy in float64."""
    return 2.0 if op == "/" and dtype in INTS else 0


def weak() -> list[Case]:
    """Python numbers beside arrays."""
    cases: list[Case] = []
    for dtype in ALL:
        one = (dtype,)
        for op in ("+", "-", "*", "//", "%", "/"):
            if dtype == "bool" and op in ("-", "//", "%"):
                continue
            ulps = 2.0 if dtype in (*INTS, "bool") and op == "/" else 0
            cases += [Case(f"a {op} 3", one, ulps=ulps, values="small")]
            cases += (
                [Case(f"2 {op} (a + 10)", one, ulps=ulps, values="small")]
                if op != "/" or dtype in FLOATS
                else []
            )
        for op in ("+", "-", "*", "/"):
            ulps = 0 if dtype in FLOATS else 2.0
            cases += [
                Case(f"a {op} 2.5", one, ulps=ulps, values="small"),
                Case(f"0.5 {op} (a + 11)", one, ulps=ulps, values="small"),
            ]
        cases += [Case(f"a {op} 2", one) for op in _COMPARE]
        cases += [Case("a * True", one, values="small")]
    for dtype in NUMBERS:
        cases += [Case(f"a ** {n}", (dtype,), values="small", ulps=2.0) for n in (0, 1, 2, 3, 5)]
    for dtype in FLOATS:
        cases += [Case(f"a ** {n}", (dtype,), values="positive", ulps=4.0) for n in (-1, -2, 0.5, 1.5, -0.5)]
    for dtype in INTS:
        cases += [
            Case(f"a {op} {n}", (dtype,))
            for op, n in (("<<", 1), ("<<", 7), (">>", 1), (">>", 5), ("&", 6), ("|", 9), ("^", 3))
        ]
        cases += [Case(f"a // {n}", (dtype,)) for n in (2, 7)] + [Case(f"a % {n}", (dtype,)) for n in (2, 7)]
        if dtype[0] == "i":
            cases += [Case("a // -3", (dtype,)), Case("a % -3", (dtype,))]
    return cases


def promotion() -> list[Case]:
    """Two types meet."""
    cases: list[Case] = []
    for first, second in combinations(ALL, 2):
        types = (first, second)
        integers = all(each not in FLOATS for each in types)
        # NumPy has no integer type for these two, and so computes in float64; documented to be float32.
        odd = {"uint64"} & set(types) and any(each.startswith("int") for each in types)
        ulps = 2.0 if odd or not integers else 0
        cases += [Case(f"a {op} b", types, values="small", ulps=ulps) for op in ("+", "*")]
        cases += [
            Case("a < b", types, values="small"),
            Case("np.where(a < b, a, b)", types, values="small", ulps=ulps),
        ]
        cases += [Case("np.maximum(b, a)", types, values="small", ulps=ulps)]
    return cases


_EVERYWHERE = "exp expm1 sin cos tanh arctan sinh cosh arcsinh cbrt exp2".split()
_POSITIVE = "log1p sqrt".split()
_EXACT = "floor ceil trunc rint sign absolute negative square".split()


def unary() -> list[Case]:
    """Functions of one array."""
    cases: list[Case] = []
    for dtype in FLOATS:
        ulps = 4.0
        cases += [Case(f"np.{fn}(a)", (dtype,), values="small", ulps=ulps) for fn in _EVERYWHERE]
        cases += [Case(f"np.{fn}(a)", (dtype,), values="positive", ulps=ulps) for fn in _POSITIVE]
        cases += [
            Case(f"np.{fn}(a + 1)", (dtype,), values="positive", ulps=ulps)
            for fn in ("log", "log2", "log10", "arccosh")
        ]
        cases += [
            Case(f"np.{fn}(a / 8)", (dtype,), values="positive", ulps=ulps)
            for fn in ("arcsin", "arccos", "arctanh", "tan")
        ]
        cases += [
            Case(f"np.{fn}(a)", (dtype,))
            for fn in (*_EXACT, "isnan", "isinf", "isfinite", "signbit", "sqrt", "logical_not")
        ]
        cases += [
            Case("-a", (dtype,)),
            Case("abs(a)", (dtype,)),
            Case("+a", (dtype,)),
            Case("np.reciprocal(a)", (dtype,)),
        ]
        cases += [Case("np.clip(a, -2.0, 3.0)", (dtype,)), Case("a.clip(-1, 1)", (dtype,))]
    for dtype in INTS:
        signed = dtype[0] == "i"
        fns = ["sign", "absolute", "square", "invert", "logical_not", "negative"]
        cases += [Case(f"np.{fn}(a)", (dtype,)) for fn in fns]
        cases += [
            Case("-a", (dtype,)),
            Case("~a", (dtype,)),
            Case("abs(a)", (dtype,)),
            Case("np.clip(a, 2, 7)", (dtype,)),
        ]
        cases += [Case("a.clip(-2, 3)", (dtype,))] if signed else []
    cases += [Case("~a", ("bool",)), Case("np.logical_not(a)", ("bool",)), Case("np.invert(a)", ("bool",))]
    return cases


def casts() -> list[Case]:
    """Every type to every type."""
    return [
        Case(f"a.astype(np.{target})", (source,), f"ref['to_integer'](a, '{target}')")
        for source in ALL
        for target in ALL
        if source != target and target != "bool"
    ] + [Case("a.astype(np.bool_)", (source,)) for source in NUMBERS]


_SUMS = "sum prod cumsum cumprod mean var std".split()
_PICKS = "max min argmax argmin any all".split()


def reductions() -> list[Case]:
    """Reductions and scans over axes."""
    cases: list[Case] = []
    for dtype in ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint32", "bool"):
        for fn in (*_SUMS, *_PICKS):
            if dtype == "bool" and fn in ("var", "std", "cumprod", "prod", "argmax", "argmin"):
                continue
            # Order is free within the bound; float16 sums are carried in float32 by both, and rounded once.
            wide = fn in _SUMS and dtype not in INTS
            ulps = (
                (400.0 if fn in ("prod", "cumprod") else 64.0) if wide or fn in ("mean", "var", "std") else 0
            )
            for arguments in ("", "0", "axis=-1, keepdims=True", "(0, 2)"):
                single = fn in ("cumsum", "cumprod", "argmax", "argmin")
                if (single and arguments == "(0, 2)") or (fn.startswith("cum") and "keepdims" in arguments):
                    continue
                inner = "a / 8 + 1" if fn in ("prod", "cumprod") and dtype in FLOATS else "a"
                text = f"np.{fn}({inner}{', ' if arguments else ''}{arguments})"
                reference = "" if dtype != "float16" or not wide else _in_float32(fn, inner, arguments)
                cases.append(Case(text, (dtype,), reference, ulps=ulps, values="matrices"))
    return cases


def _in_float32(fn: str, inner: str, arguments: str) -> str:
    return f"np.{fn}(({inner}).astype(np.float32){', ' if arguments else ''}{arguments}).astype(np.float16)"


_INDEXED = """a[0] | a[-1] | a[1, 2] | a[-1, -2, 3] | a[1:3] | a[:, 1:4] | a[..., 0] | a[..., -1] | a[::2]
a[::-1] | a[:, ::-2] | a[3:0:-1] | a[1:100] | a[100:] | a[-3:-1] | a[:, None] | a[None]
a[..., None] | a[0, ..., None] | a[:, 1, ::-1] | a[2:2] | a[:-1, 1:, ::3] | a[0][1] | a[0][1][2]
a[1:][0] | a.T | a.T[0] | a.transpose(2, 0, 1) | a.transpose((1, 0, 2)) | np.transpose(a, (0, 2, 1))
a.reshape(20, 6) | a.reshape(-1) | a.reshape(4, -1) | a.reshape((2, 2, 30)) | a.flatten()
a.ravel() | a.T.reshape(10, 12) | a[:, ::2].reshape(-1) | np.reshape(a, (5, 24))
a.astype(np.int32)[0] | a.copy() | a[:, asc.arange(3)] | a[asc.arange(4), asc.arange(4)]
a[1, asc.arange(5), 2] | a[asc.arange(2)[:, None], asc.arange(3)] | a[:, :, asc.arange(6) - 6]
np.concatenate((a, a[:1])) | np.concatenate((a, a[:, :2]), axis=1) | np.stack((a, a * 2))
np.stack((a, a), axis=-1) | np.split(a, 2)[1] | np.split(a, 3, axis=2)[0]
np.take(a, asc.arange(3), axis=1) | np.take(a, asc.arange(5)) | np.where(a > 0, a, 0)
np.where(a > 0, a[:1], a[:, :1]) | np.where(a[0] > 0, a, -a) | np.broadcast_to(a[:, :1], (4, 5, 6))
np.sort(a) | np.sort(a, axis=0) | np.sort(a, axis=None) | np.argsort(a, axis=1, kind='stable')
np.pad(a, 1) | np.pad(a, ((0, 1), (2, 0), (1, 1)), constant_values=3)
np.pad(a, (1, 2), mode='edge') | a + a[:1] | a * a[:, :1] | a - a[0] | a[0] + a[:, 0, :1, None]
a[:2] + a[2:] | (a > 0) & (a < 3) | a[..., ::-1] + a | a.T + a.T[0] | -a[1:]
(a @ a.transpose(0, 2, 1)) | a[0] @ a[0].T | a[0, 0] @ a[0, 1] | a @ a[0, 0]
np.matmul(a[0], a[1].T) | np.dot(a[0, 0], a[0, 1]) | np.einsum('ijk->kji', a)
np.einsum('ijk,ilk->ijl', a, a) | np.einsum('ijk->i', a) | np.zeros_like(a) | np.ones_like(a)
np.full_like(a, 7) | a.sum() | a.max(axis=1) | a.argmin() | a.mean(axis=(0, 1)) | a.any()
(a > 100).all() | a.sum(axis=0)[1] | a.min(axis=-1, keepdims=True)[0]"""


def shapes() -> list[Case]:
    """Indexing, shapes, rearrangement and products."""
    cases: list[Case] = []
    for line in _INDEXED.splitlines():
        for text in (each.strip() for each in line.split(" | ")):
            for dtype in ("float32", "int32", "float16", "uint8"):
                cases.append(_shape_case(text, dtype))
    cases += [Case("(a > 0) | (a < 3)", (dtype,), values="matrices") for dtype in NUMBERS]
    return cases


def _shape_case(text: str, dtype: str) -> Case:
    kernel = text.replace(", kind='stable'", "")
    sums = any(word in text for word in ("@", "matmul", "dot", "einsum", "sum", "mean"))
    ulps = 64.0 if sums and (dtype in FLOATS or "mean" in text) else 0
    return Case(kernel, (dtype,), text.replace("asc.", "np."), ulps=ulps, values="matrices")


def creation() -> list[Case]:
    """Arrays out of nothing."""
    plain = (
        "asc.zeros((2, 3)) asc.ones(4) asc.full((2,),7) asc.full((2,),1.5) asc.eye(3) asc.eye(2,4) asc.arange(5) "
        "asc.arange(2,9,3) asc.arange(9,2,-3) asc.arange(3,1) asc.zeros(0) asc.full((2,2),True)"
    )
    cases = [
        Case(text, ("float32",), text.replace("asc.", "np."), values="matrices")
        for text in plain.replace("(2, 3)", "(2,3)").split()
    ]
    for dtype in ALL:
        name = "bool_" if dtype == "bool" else dtype
        for text in ("zeros((2, 3), {})", "ones(4, {})", "full((2,), 1, {})", "eye(3, dtype={})"):
            kernel, numpy = text.format(f"asc.{name}"), text.format(f"np.{name}")
            cases.append(Case(f"asc.{kernel}", ("float32",), f"np.{numpy}", values="matrices"))
    return cases


def functions() -> list[Case]:
    """Activations and normalisations against what their names say."""
    soft = "np.exp(a - a.max({0}, keepdims=True)) / np.exp(a - a.max({0}, keepdims=True)).sum({0}, keepdims=True)"
    norm = "(a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)"
    rms = "a / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-6)"
    table = {
        "asc.softmax(a)": soft.format(-1),
        "asc.softmax(a, axis=0)": soft.format(0),
        "asc.log_softmax(a)": f"np.log({soft.format(-1)})",
        "asc.relu(a)": "np.maximum(a, 0)",
        "asc.sigmoid(a)": "1 / (1 + np.exp(-a))",
        "asc.silu(a)": "a / (1 + np.exp(-a))",
        # 1 + erf(x) has the error of 1 where it is small, too: what is left of x bounds nothing.
        "asc.gelu(a) + 2 * a": "a * (1 + asc.erf(a * np.sqrt(0.5))) * 0.5 + 2 * a",
        "asc.tanh(a)": "np.tanh(a)",
        "asc.layer_norm(a)": norm,
        "asc.rms_norm(a)": rms,
        "asc.rsqrt(a * a + 1)": "1 / np.sqrt(a * a + 1)",
        "asc.erf(a)": "asc.erf(a)",
        "asc.erfc(a)": "asc.erfc(a)",
    }
    cases: list[Case] = []
    for dtype, ulps in (("float32", 32.0), ("float64", 64.0), ("float16", 4.0)):
        for text, reference in table.items():
            wide = f"(lambda a: {reference})(a.astype(np.float64)).astype(np.{dtype})"
            cases.append(Case(text, (dtype,), wide, ulps=ulps, values="matrices"))
    return cases


def every_case() -> list[Case]:
    """All of the above."""
    groups = (elementwise, weak, promotion, unary, casts, reductions, shapes, creation, functions)
    return [case for group in groups for case in group()]
