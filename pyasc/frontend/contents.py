# SPDX-License-Identifier: Apache-2.0
"""The table of contents of the frontend: the handler of each node type. What is not here is refused."""

from __future__ import annotations

import ast

from pyasc.frontend import calls, control, expressions, loops, objects, precision, statements, subscripts
from pyasc.frontend.visitor import Contents

CONTENTS = Contents(
    statements={
        ast.AnnAssign: statements.annotated,
        ast.Assert: statements.assert_statement,
        ast.Assign: statements.assign_statement,
        ast.AugAssign: statements.augmented,
        ast.Break: control.break_statement,
        ast.Continue: control.continue_statement,
        ast.Expr: statements.expression_statement,
        ast.For: loops.for_statement,
        ast.FunctionDef: statements.function_definition,
        ast.If: control.if_statement,
        ast.Pass: statements.pass_statement,
        ast.Return: control.return_statement,
        ast.While: loops.while_statement,
        ast.With: precision.with_statement,
    },
    expressions={
        ast.Attribute: objects.attribute,
        ast.BinOp: expressions.binary_operation,
        ast.BoolOp: control.boolean,
        ast.Call: calls.call,
        ast.Compare: expressions.comparison,
        ast.Constant: objects.constant,
        ast.GeneratorExp: expressions.generator_expression,
        ast.IfExp: control.conditional,
        ast.Lambda: statements.lambda_expression,
        ast.List: expressions.tuple_expression,
        ast.ListComp: expressions.list_comprehension,
        ast.Name: objects.name,
        ast.NamedExpr: expressions.named_expression,
        ast.Slice: subscripts.slice_expression,
        ast.Subscript: subscripts.subscript,
        ast.Tuple: expressions.tuple_expression,
        ast.UnaryOp: expressions.unary_operation,
    },
)

# Nodes that the handlers of others look into.
PARTS: tuple[type[ast.AST], ...] = (
    ast.alias,
    ast.arg,
    ast.arguments,
    ast.boolop,
    ast.cmpop,
    ast.comprehension,
    ast.expr_context,
    ast.FormattedValue,
    ast.keyword,
    ast.operator,
    ast.unaryop,
    ast.withitem,
)
