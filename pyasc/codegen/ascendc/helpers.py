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
