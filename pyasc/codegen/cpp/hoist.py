# SPDX-License-Identifier: Apache-2.0
"""Moves buffers out of loops: memory is asked for once a chunk of iterations, not once an iteration."""

from __future__ import annotations

from pyasc.codegen.cpp import nodes
from pyasc.codegen.cpp.outline import declared_names, identifiers


def hoist_buffers(body: list[nodes.Node]) -> list[nodes.Node]:
    """The same statements with every heap buffer before the outermost loop that its size does not depend on.

    A buffer's contents are undefined when an iteration begins, so iterations of one thread may share it.
    """
    hoisted: list[nodes.Node] = []
    for node in body:
        match node:
            case nodes.For(body=inner) | nodes.While(body=inner):
                node.body = hoist_buffers(inner)
                if moved := _movable(node):
                    node.body = [child for child in node.body if child not in moved]
                    hoisted += moved
            case nodes.If():
                node.then, node.otherwise = hoist_buffers(node.then), hoist_buffers(node.otherwise)
            case _:
                pass
        hoisted.append(node)
    return hoisted


def _movable(loop: nodes.For | nodes.While) -> list[nodes.Node]:
    buffers = [child for child in loop.body if isinstance(child, nodes.HeapArray)]
    if not buffers:
        return []
    inner = declared_names([loop])
    return [buffer for buffer in buffers if not (identifiers(buffer.count) & inner)]
