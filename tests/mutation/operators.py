# SPDX-License-Identifier: Apache-2.0
"""Faults that an emitter could make: each rule finds the places in an Ascend C text where it can be put in.

A mutant has as many lines as the text it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Edit = tuple[int, int, str]
"""From, to, and the text between them instead."""


@dataclass(frozen=True)
class Mutant:
    """One fault in one text: the rule, the line (from 1), and the line before and after."""

    rule: str
    line: int
    before: str
    after: str
    text: str


@dataclass(frozen=True)
class Rule:
    """A kind of fault and where it can be put into a text."""

    name: str
    edits: Callable[[str], Iterator[Edit]]


def mutants_of(text: str) -> list[Mutant]:
    """Every fault of every rule, in order."""
    return [_mutant(rule.name, text, edit) for rule in RULES for edit in rule.edits(text)]


def _mutant(rule: str, text: str, edit: Edit) -> Mutant:
    start, stop, new = edit
    new += "\n" * (text[start:stop].count("\n") - new.count("\n"))
    changed = text[:start] + new + text[stop:]
    line = text.count("\n", 0, start) + 1
    return Mutant(
        rule, line, text.split("\n")[line - 1].strip(), changed.split("\n")[line - 1].strip(), changed
    )


def _each(pattern: str, *replacements: str) -> Callable[[str], Iterator[Edit]]:
    compiled = re.compile(pattern, re.MULTILINE)

    def edits(text: str) -> Iterator[Edit]:
        for found in compiled.finditer(text):
            for replacement in replacements:
                new = found.expand(replacement)
                if new != found[0]:
                    yield found.start(), found.end(), new

    return edits


def _statements(pattern: str) -> Callable[[str], Iterator[Edit]]:
    """Leave out whole statements that start with a pattern."""
    compiled = re.compile(rf"^( *){pattern}[^;]*;", re.MULTILINE)
    return lambda text: ((found.start(), found.end(), found[1] + ";") for found in compiled.finditer(text))


_VECTOR_CALLS = (
    "Add|Sub|Mul|Div|Max|Min|Adds|Muls|Maxs|Mins|Exp|Ln|Sqrt|Rsqrt|Abs|Relu|Cast|Duplicate|Compare|CompareScalar|"
    "Select|WholeReduceSum|WholeReduceMax|WholeReduceMin|Brcb|And|Or|Not|Reciprocal|Axpy|ShiftLeft|ShiftRight|"
    "Gather|CreateVecIndex|Tanh|Erf|LeakyRelu|AddRelu|SubRelu|Mmad|LoadData|Fixpipe|DataCopy"
)
_CALL = re.compile(rf"^ *(?:{_VECTOR_CALLS})(?:<[^;(]*>)?\(", re.MULTILINE)


def _arguments(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """The arguments of the call whose parenthesis opens before `start`, and where it closes."""
    depth, begin, found = 0, start, list[tuple[int, int]]()
    for position in range(start, len(text)):
        char = text[position]
        if char in "([{":
            depth += 1
        elif char in ")]}" and depth:
            depth -= 1
        elif char == ")" or (char == "," and depth == 0):
            found.append((begin, position))
            begin = position + 1
            if char == ")":
                return found, position
    return found, len(text)


def _last_counts(text: str) -> Iterator[Edit]:
    """Change how many elements or rows a call is for: its last argument that is no brace and no name of a mode."""
    for call in _CALL.finditer(text):
        arguments, _ = _arguments(text, call.end())
        for start, stop in reversed(arguments):
            word = text[start:stop].strip()
            if re.fullmatch(r"[a-z]\w*|\d+", word):
                at = start + len(text[start:stop]) - len(text[start:stop].lstrip())
                yield at, stop, f"{word} - 1"
                yield at, stop, f"{word} + 8"
                break


def _strides(text: str) -> Iterator[Edit]:
    """Change one stride of a call in braces."""
    for call in _CALL.finditer(text):
        _, end = _arguments(text, call.end())
        brace = text.find("{", call.end(), end)
        while brace >= 0:
            close = text.find("}", brace)
            for found in re.finditer(
                r"(?<=[{ ])(?:\d+|static_cast<\w+>\((\w+)\)|[a-z]\w*)(?=[,}])", text[brace : close + 1]
            ):
                start, stop = brace + found.start(), brace + found.end()
                word = found[0]
                yield start, stop, _one_more(word, found[1])
            brace = text.find("{", close, end)


def _one_more(word: str, cast: str | None) -> str:
    """A stride plus one: a number, a conversion, or a variable that is as narrow as the field."""
    if word.isdigit():
        return str(int(word) + 1)
    if cast is not None:
        return word.replace(f"({cast})", f"({cast} + 1)")
    return f"static_cast<uint8_t>({word} + 1)"


def _copy_fields(text: str) -> Iterator[Edit]:
    """Change the count, the length or a stride of a copy."""
    for found in re.finditer(r"DataCopyExtParams \w+\{", text):
        close = text.index("};", found.end())
        arguments, _ = _arguments(text[:close] + ")", found.end())
        for number, (start, stop) in enumerate(arguments[:4]):
            word = text[start:stop].strip()
            at = stop - len(text[start:stop].lstrip())
            for change in ("- 1", "+ 1") if number == 0 else ("+ 32", "- 2") if number == 1 else ("+ 1",):
                inner = re.fullmatch(r"static_cast<(\w+)>\((.*)\)", word, re.DOTALL)
                type_ = inner[1] if inner else "uint16_t" if number == 0 else "uint32_t"
                yield at, stop, f"static_cast<{type_}>({inner[2] if inner else word} {change})"


def _loop_bounds(text: str) -> Iterator[Edit]:
    """One iteration too many, or one too few."""
    for found in re.finditer(r"(?<=; )(\w+) < ([^;]+); (?:\+\+\1|\1 \+= (\w+))(?=\) \{)", text):
        counter, bound, step = found[1], found[2], found[3] or "1"
        advance = found[0].rpartition("; ")[2]
        yield found.start(), found.end(), f"{counter} < {bound} + {step}; {advance}"
        yield found.start(), found.end(), f"{counter} + {step} < {bound}; {advance}"


def _swapped_lines(text: str) -> Iterator[Edit]:
    """Exchange a queue call with the statement before it, which uses the tensor."""
    pattern = re.compile(r"^( *[^\n{};]*;)\n( *\w+\.(?:EnQue|FreeTensor)\((\w+)\);)$", re.MULTILINE)
    for found in pattern.finditer(text):
        if re.search(rf"\b{found[3]}\b", found[1]) and "LocalTensor" not in found[1]:
            yield found.start(), found.end(), f"{found[2]}\n{found[1]}"


RULES: tuple[Rule, ...] = (
    Rule("drop a barrier", _statements(r"PipeBarrier<")),
    Rule("drop a flag", _statements(r"(?:SetFlag|WaitFlag|CrossCoreSetFlag|CrossCoreWaitFlag|SyncAll)\b")),
    Rule(
        "turn a flag round",
        _each(r"((?:Set|Wait)Flag)<HardEvent::(\w+?)_(\w+)>", r"\1<HardEvent::\3_\2>"),
    ),
    Rule("drop EnQue", _statements(r"\w+\.EnQue\(")),
    Rule("drop FreeTensor", _statements(r"\w+\.FreeTensor\(")),
    Rule("drop a cache write-back", _statements(r"DataCacheCleanAndInvalid<")),
    Rule("drop a copy", _statements(r"DataCopyPad\(")),
    Rule("drop a vector call", _statements(rf"(?:{_VECTOR_CALLS})(?:<[^;(]*>)?\(")),
    Rule(
        "swap queue calls",
        _each(r"(\w+)\.EnQue\((\w+)\);", r"\1.FreeTensor(\2);"),
    ),
    Rule("allocate instead of DeQue", _each(r"\.DeQue<", ".AllocTensor<")),
    Rule("take instead of AllocTensor", _each(r"\.AllocTensor<", ".DeQue<")),
    Rule("queue calls out of order", _swapped_lines),
    Rule(
        "shrink a buffer",
        _each(r"(pipe->InitBuffer\(\w+, (?:\w+, )?)(.+)\);$", r"\1(\2) / 64 * 32);", r"\1(\2) - 32);"),
    ),
    Rule(
        "shift an address",
        _each(r"(\w+Gm\[)([^\]]+)\]", r"\1\2 + 1]", r"\1\2 - 1]"),
    ),
    Rule("shift a scalar access", _each(r"(Gm\.[GS]etValue\()([^,()]+)([,)])", r"\1\2 + 1\3")),
    Rule("shift a tile", _each(r"((?:\(|, )[a-z]\w*\[)(\w+)\]", r"\1\2 + 8]", r"\1\2 + 1]")),
    Rule("shift a base", _each(r"(SetGlobalBuffer\(\(__gm__ \w+\*\)\w+ \+ )(\w+)", r"\1\2 + 1")),
    Rule("shrink an array", _each(r"(SetGlobalBuffer\([^;]*, )(\w+)\);", r"\1\2 - 1);")),
    Rule("skip a tail", _each(r"\b(left\w*) < (\w+) \? \1 : \2", r"\2")),
    Rule("round down", _each(r"(?:CeilDiv|RoundUp)<\w+>\((\w+), (\w+)\)(?! \{)", r"(\1 / \2)")),
    Rule("uneven shares", _each(r"id < extra \?", "id <= extra ?", "id + 1 < extra ?")),
    Rule("loop bounds", _loop_bounds),
    Rule("change a count", _last_counts),
    Rule("change a stride", _strides),
    Rule("change a copy", _copy_fields),
    Rule(
        "tiles too large",
        _each(r"(left\w* < )(\w+)( \? left\w* : )\2;", r"\1\2 * 2\3\2 * 2;", r"\1\2 + 1024\3\2 + 1024;"),
    ),
    Rule("change a mask", _each(r"(lanes\w* = .* < (\w+) \? left\w* : )\2", r"\1\2 - 1")),
)
