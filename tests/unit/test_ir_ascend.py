# SPDX-License-Identifier: Apache-2.0
"""The ascend level: hand-written kernels as IR, read back and verified, and the rules of the calls."""

from __future__ import annotations

import pytest

from pyasc.ir.ascend_calls import CASTS, EVENTS, PIPES, VECTOR_CALLS
from pyasc.ir.dialects.asc_vector import Advanced, Binary, TensorScalar, Unary
from pyasc.ir.dtypes import BY_NAME
from pyasc.ir.numbers import CASTS_2201, ROWS
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify

STREAM = """\
func.module {
  func.func {symbol = "add_half", sizes = ["N"], written = [2]} {
  ^(%x: ref<N x f16>, %y: ref<N x f16>, %z: ref<N x f16>):
    asc.KernelType {type = "KERNEL_TYPE_AIV_ONLY"}
    %pipe = asc.TPipe
    %in = asc.TQue {position = "VECIN"}
    %out = asc.TQue {position = "VECOUT"}
    %bytes = arith.constant {value = 16384} : i64
    asc.InitQueue %pipe, %in, %bytes
    asc.InitQueue %pipe, %out, %bytes
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    %n = func.size {symbol = "N"}
    %id = asc.GetBlockIdx
    %cores = asc.GetBlockNum
    %tile = arith.constant {value = 8192} : i64
    %first = arith.mul %id, %tile
    %step = arith.mul %cores, %tile
    scf.for %first, %n, %step, [] {
    ^(%at: i64):
      %left = arith.sub %n, %at
      %len = arith.minimum %left, %tile
      %two = arith.constant {value = 2} : i64
      %size = arith.mul %len, %two
      %a = asc.AllocTensor %in : ref<8192 x f16, ub>
      %xs = asc.Offset %x, %at : ref<? x f16>
      asc.DataCopyPad %a, %xs, %1, %size, %0, %0, []
      asc.EnQue %in, %a
      %b = asc.DeQue %in : ref<8192 x f16, ub>
      %c = asc.AllocTensor %out : ref<8192 x f16, ub>
      asc.Add %c, %b, %b, [%len], []
      asc.PipeBarrier {pipe = "PIPE_V"}
      asc.EnQue %out, %c
      asc.FreeTensor %in, %b
      %d = asc.DeQue %out : ref<8192 x f16, ub>
      %zs = asc.Offset %z, %at : ref<? x f16>
      asc.DataCopyPad %zs, %d, %1, %size, %0, %0, []
      asc.FreeTensor %out, %d
      scf.yield
    }
    func.return
  }
}"""

VECTOR = """\
func.module {
  func.func {symbol = "f"} {
  ^(%t: ref<1024 x f32, ub>, %r: ref<64 x f32, ub>, %s: ref<512 x f32, ub>, %m: ref<128 x u8, ub>, %k: i64, %v: f32, \
%h: ref<1024 x f16, ub>, %o: ref<1024 x u32, ub>, %i: ref<64 x i32, ub>):
    asc.Adds %t, %t, %v, [%k, %k], [%k, %k, %k, %k]
    asc.SetMaskCount
    asc.SetVectorMask %k, %k {dtype = "f32", counter = true}
    asc.Max %t, %t, %t, [%k, %k], [%k, %k, %k, %k, %k, %k] {set_mask = false}
    asc.SetMaskNorm
    asc.ResetMask
    asc.WholeReduceMax %r, %t, [%k, %k], [%k, %k, %k] {order = "ORDER_ONLY_VALUE"}
    asc.Brcb %s, %r, %k, [%k, %k]
    asc.Exp %t, %t, [%k], []
    asc.CompareScalar %m, %t, %v, [%k], [] {mode = "GT"}
    asc.Select %t, %m, %t, %v, [%k], [] {mode = "VSEL_TENSOR_SCALAR_MODE"}
    asc.Cast %h, %t, [%k], [] {mode = "CAST_RINT"}
    asc.Gather %t, %t, %o, %k, %k
    %same = asc.ReinterpretCast %r : ref<64 x i32, ub>
    asc.GatherMask %i, %same, %k, %k, %k {pattern = 2}
    asc.Tanh %t, %s, %m, %k
    asc.Duplicate %t, %v, [%k], []
    asc.CreateVecIndex %t, %v, %k
    asc.ReduceMax %r, %t, %s, %k {with_index = true}
    %e = asc.GetValue %r, %k
    asc.SetValue %r, %k, %e
    func.return
  }
}"""

CUBE = """\
func.module {
  func.func {symbol = "g"} {
  ^(%x: ref<64 x 64 x f16>, %y: ref<64 x 64 x f16>, %l1: ref<4096 x f16, l1, nz>, %a: ref<4096 x f16, l0a, zz>, \
%b: ref<4096 x f16, l0b, zn>, %c: ref<4096 x f32, l0c, nz>, %k: i64, %z: f16, %first: i1, %pipe: !pipe):
    asc.KernelType {type = "KERNEL_TYPE_MIX_AIC_1_2"}
    asc.DataCopyNd2Nz %l1, %x, %k, %k, %k, %k, %k, %k, %k, %k
    asc.InitConstValue %l1, %k, %k, %k, %z
    asc.LoadData %a, %l1, %k, %k, %k, %k
    asc.LoadData %b, %l1, %k, %k, %k, %k {transpose = true}
    asc.Mmad %c, %a, %b, [], %k, %k, %k, %first
    %event = asc.FetchEventID %pipe {event = "M_FIX"}
    asc.SetFlag %event
    asc.WaitFlag %event
    asc.Fixpipe %y, %c, %k, %k, %k, %k {quant = "F322F16"}
    asc.CrossCoreSetFlag {id = 1, mode = 2, pipe = "PIPE_FIX"}
    asc.CrossCoreWaitFlag {id = 2}
    asc.SetAtomicAdd {dtype = "f32"}
    asc.SetAtomicNone
    asc.SyncAll
    func.return
  }
}"""


@pytest.mark.parametrize("text", [STREAM, VECTOR, CUBE], ids=["stream", "vector", "cube"])
def test_kernels_are_read_back_and_valid(text: str) -> None:
    module = parse(text)
    assert str(module) == text
    assert [str(problem) for problem in verify(module, "ascend")] == []


WRONG = [
    ("asc.Add %t, %t, %h, [%k], []", "element types differ: ref<64 x f16, ub> and ref<64 x f32, ub>"),
    ("asc.Add %u, %u, %u, [%k], []", "Add takes f16 f32 i16 i32, not u8"),
    ("asc.Add %t, %t, %t, [%k], [%k]", "strides has 0 values, got 1"),
    ("asc.Add %t, %t, %t, [%k, %k], [%k]", "strides has 0 or 6 values, got 1"),
    ("asc.Add %t, %t, %t, [], []", "amount has 1 or 2 or 3 values, got 0"),
    ('asc.Cast %u, %t, [%k], [] {mode = "CAST_RINT"}', "there is no Cast from f32 to u8"),
    ('asc.Cast %h, %u, [%k], [] {mode = "CAST_RINT"}', "Cast from u8 to f16 takes CAST_NONE"),
    ('asc.Compare %u, %i, %i, [%k], [] {mode = "LT"}', "Compare LT is not defined on i32"),
    ('asc.PipeBarrier {pipe = "PIPE_S"}', "PIPE_S takes no barrier"),
    ('asc.PipeBarrier {pipe = "PIPE_X"}', f"attribute 'pipe' must be one of {', '.join(PIPES)}, got PIPE_X"),
    (
        "asc.DataCopyPad %t, %t, %k, %k, %k, %k, []",
        "copies between gm and ub, got ref<64 x f32, ub> to ref<64 x f32, ub>",
    ),
    ("asc.DataCopyPad %g, %t, %k, %k, %k, %k, [%k, %k]", "padding is filled on the way in alone"),
    ("asc.DataCopy %t, %g, [%k, %k]", "amount has 1 or 4 values, got 2"),
    ("%q = asc.AllocTensor %que : ref<4 x f32, l1>", "!queue<VECIN, 1> lies in ub, got ref<4 x f32, l1>"),
    (
        "%q = asc.ReinterpretCast %t : ref<4 x f32, l1>",
        "memories differ: ref<64 x f32, ub> and ref<4 x f32, l1>",
    ),
    (
        'asc.WholeReduceSum %t, %t, [%k, %k], [%k, %k, %k] {order = "ORDER_ONLY_VALUE"}',
        "WholeReduceSum with order ORDER_ONLY_VALUE",
    ),
    ('asc.CrossCoreSetFlag {id = 11, mode = 3, pipe = "PIPE_V"}', "flag ids are 0 to 10, got 11"),
    ("asc.Mmad %t, %t, %t, [], %k, %k, %k, %c", "expected a tensor in l0c, got ref<64 x f32, ub>"),
    (
        'asc.Fixpipe %g, %l0c, %k, %k, %k, %k {quant = "F322F16"}',
        "Fixpipe from f32 to f32 takes NoQuant, got F322F16",
    ),
    ("asc.EnQue %t, %t", "operand 'queue' must be !queue, got ref<64 x f32, ub>"),
    ("%v = mem.load %t, [%k]", "is not an operation of the ascend level"),
]


@pytest.mark.parametrize(("body", "message"), WRONG, ids=[message for _, message in WRONG])
def test_each_rule_is_named(body: str, message: str) -> None:
    text = f"""\
func.module {{
func.func {{symbol = "f"}} {{
^(%t: ref<64 x f32, ub>, %h: ref<64 x f16, ub>, %u: ref<64 x u8, ub>, %i: ref<64 x i32, ub>, %g: ref<64 x f32>, \
%l0c: ref<64 x f32, l0c>, %que: !queue<VECIN, 1>, %k: i64, %c: i1):
{body}
func.return
}}
}}"""
    assert message in [problem.message for problem in verify(parse(text), "ascend")]


def test_every_vector_call_has_an_operation() -> None:
    declared = {
        name for cls in (Unary, Binary, TensorScalar, Advanced) for name in cls.spec.attributes[0].choices
    }
    assert declared == VECTOR_CALLS.keys()


def test_tables_name_known_dtypes_and_pipes() -> None:
    assert {name for call in VECTOR_CALLS.values() for name in call.dtypes} <= BY_NAME.keys()
    assert {f"PIPE_{side}" for event in EVENTS for side in event.split("_")} <= set(PIPES)


def test_the_number_table_agrees_with_the_calls() -> None:
    """The two tables were filled apart from the same facts."""
    for row in ROWS:
        for unit in row.units:
            if unit.instruction in VECTOR_CALLS:
                assert unit.dtypes == VECTOR_CALLS[unit.instruction].dtypes, row.name
    pairs = {(source, target) for source, targets in CASTS_2201.items() for target in targets}
    assert pairs == CASTS.keys()
