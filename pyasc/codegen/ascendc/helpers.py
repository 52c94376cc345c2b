# SPDX-License-Identifier: Apache-2.0
"""Functions in C++ that the expressions of a file may call. A file defines those that it calls."""

from __future__ import annotations

HELPERS = {
    "CeilDiv": """// How many units hold a size.
template <typename T>
__aicore__ inline T CeilDiv(T size, T unit)
{
    return (size + unit - 1) / unit;
}""",
    "RoundUp": """// A size in whole units.
template <typename T>
__aicore__ inline T RoundUp(T size, T unit)
{
    return (size + unit - 1) / unit * unit;
}""",
    "CopyNdToNz": """// Rows of global memory, `pitch` elements apart, to columns of fractals of `padded` rows in L1.
template <typename T>
__aicore__ inline void CopyNdToNz(const LocalTensor<T>& dst, const GlobalTensor<T>& src, int64_t rows, int64_t columns,
                                  int64_t pitch, int64_t padded)
{
    Nd2NzParams copy;
    copy.ndNum = 1;
    copy.dValue = static_cast<uint16_t>(columns);
    copy.srcNdMatrixStride = 0;
    copy.dstNzC0Stride = static_cast<uint16_t>(padded);
    copy.dstNzNStride = 1;
    copy.dstNzMatrixStride = 0;
    if (pitch <= 65535) {
        copy.nValue = static_cast<uint16_t>(rows);
        copy.srcDValue = static_cast<uint16_t>(pitch);
        DataCopy(dst, src, copy);
        return;
    }
    // Further than the instruction steps: row by row.
    copy.nValue = 1;
    copy.srcDValue = copy.dValue;
    for (int64_t row = 0; row < rows; ++row) {
        DataCopy(dst[row * (32 / sizeof(T))], src[row * pitch], copy);
    }
}""",
    "FloorDivide": """// Python's `//`: rounded down, and 0 for a division by zero.
template <typename T>
__aicore__ inline T FloorDivide(T a, T b)
{
    if (b == 0) {
        return 0;
    }
    if (b < 0 && b + 1 == 0) {
        return static_cast<T>(0 - a);
    }
    const T quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}""",
    "Remainder": """// What a division towards zero leaves, exactly: the divisor times powers of two is taken away.
template <typename T>
__aicore__ inline T Remainder(T a, T b)
{
    T rest = a < 0 ? -a : a;
    const T size = b < 0 ? -b : b;
    if (!(rest < __builtin_inff()) || !(size > 0)) {
        return __builtin_nanf("");
    }
    T step = size;
    while (rest - step >= step) {
        step += step;
    }
    for (; step > size; step *= static_cast<T>(0.5)) {
        rest = rest < step ? rest : rest - step;
    }
    rest = rest < size ? rest : rest - size;
    return rest > 0 ? (a < 0 ? -rest : rest) : a * 0;
}""",
    "Remainders": """// What divisions towards zero leave, exactly, in as many steps as the largest quotient has bits.
template <typename T>
__aicore__ inline void Remainders(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b,
                                  const LocalTensor<uint8_t>& scratch, TEventID ready, TEventID taken, int64_t count)
{
    constexpr int64_t PART = 448;
    constexpr int64_t LANES = 64;
    constexpr int32_t MOST_STEPS = 277;
    const T inf = __builtin_inff();
    LocalTensor<T> rest = scratch.ReinterpretCast<T>();
    LocalTensor<T> size = rest[PART];
    LocalTensor<T> step = rest[2 * PART];
    LocalTensor<T> work = rest[3 * PART];
    LocalTensor<T> most = rest[4 * PART];
    LocalTensor<uint8_t> mask = scratch[4 * PART * sizeof(T) + 32];
    LocalTensor<uint8_t> known = mask[64];
    for (int64_t first = 0; first < count; first += PART) {
        const int64_t n = count - first < PART ? count - first : PART;
        const int64_t whole = (n + LANES - 1) / LANES * LANES;
        // What has no remainder counts as 0 by 1, and is NaN in the end.
        PipeBarrier<PIPE_V>();
        Abs(rest, a[first], n);
        Abs(size, b[first], n);
        PipeBarrier<PIPE_V>();
        CompareScalar(mask, size, static_cast<T>(0), CMPMODE::GT, whole);
        Select(rest, mask, rest, inf, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
        CompareScalar(known, rest, inf, CMPMODE::LT, whole);
        Select(rest, known, rest, static_cast<T>(0), SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
        Select(size, known, size, static_cast<T>(1), SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
        Muls(step, size, static_cast<T>(1), n);
        Div(work, rest, size, n);
        PipeBarrier<PIPE_V>();
        ReduceMax(most, work, work, n);
        SetFlag<HardEvent::V_S>(ready);
        WaitFlag<HardEvent::V_S>(ready);
        T largest = most.GetValue(0);
        SetFlag<HardEvent::S_V>(taken);
        WaitFlag<HardEvent::S_V>(taken);
        int32_t steps = 0;
        for (; largest >= 1 && steps < MOST_STEPS; largest *= static_cast<T>(0.5)) {
            ++steps;
        }
        // The largest power of two times the divisor that fits, for each element.
        for (int32_t i = 0; i < steps; ++i) {
            Sub(work, rest, step, n);
            PipeBarrier<PIPE_V>();
            Compare(mask, work, step, CMPMODE::GE, whole);
            PipeBarrier<PIPE_V>();
            Add(work, step, step, n);
            Select(step, mask, work, step, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
        }
        // One more than that, since the quotient was rounded.
        for (int32_t i = 0; i <= steps; ++i) {
            Compare(mask, rest, step, CMPMODE::GE, whole);
            Sub(work, rest, step, n);
            Select(rest, mask, work, rest, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
            Muls(step, step, static_cast<T>(0.5), n);
            PipeBarrier<PIPE_V>();
            Max(step, step, size, n);
            PipeBarrier<PIPE_V>();
        }
        Muls(work, rest, static_cast<T>(-1), n);
        CompareScalar(mask, a[first], static_cast<T>(0), CMPMODE::LT, whole);
        Select(work, mask, work, rest, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
        CompareScalar(mask, a[first], static_cast<T>(0), CMPMODE::EQ, whole);
        Select(work, mask, a[first], work, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
        Select(dst[first], known, work, static_cast<T>(__builtin_nanf("")), SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
    }
}""",
    "ShiftedLeft": """// A shift by any count: one that leaves the width shifts everything out.
template <typename T>
__aicore__ inline T ShiftedLeft(T a, T count)
{
    return count >= 0 && count < static_cast<T>(8 * sizeof(T)) ? static_cast<T>(a << count) : static_cast<T>(0);
}""",
    "ShiftedRight": """// A shift by any count: one that leaves the width leaves the sign alone.
template <typename T>
__aicore__ inline T ShiftedRight(T a, T count)
{
    const T all = static_cast<T>(8 * sizeof(T));
    return count >= 0 && count < all ? static_cast<T>(a >> count) : static_cast<T>(a < 0 ? -1 : 0);
}""",
    "FloorModulo": """// Python's `%`: with the sign of the divisor, and 0 for a division by zero.
template <typename T>
__aicore__ inline T FloorModulo(T a, T b)
{
    if (b == 0 || (b < 0 && b + 1 == 0)) {
        return 0;
    }
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}""",
}
"""Functions that the expressions of a file may call, in the order in which they are defined."""
