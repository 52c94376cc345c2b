// SPDX-License-Identifier: Apache-2.0
// Software APIs of api.md section 10: each is one operation for the checker, synchronised inside.
#pragma once
#include "tensor.h"

struct SoftMaxTiling {
    uint32_t srcM = 0, srcK = 0, srcSize = 0, outMaxM = 0, outMaxK = 0, outMaxSize = 0, splitM = 0, splitK = 0,
             splitSize = 0, reduceM = 0, reduceK = 0, reduceSize = 0, rangeM = 0, tailM = 0, tailSplitSize = 0,
             tailReduceSize = 0;
};
struct LayerNormTiling {
    uint32_t bLength = 0, sLength = 0, hLength = 0, originalHLength = 0;
};

namespace AscendC {

#define PYASC_MATH(NAME, FUNCTION)                                                                                 \
    template <typename T, bool REUSE = false>                                                                      \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<uint8_t>& tmp,            \
                     uint32_t count, PYASC_LOC)                                                                    \
    {                                                                                                              \
        pyasc_model::math(pyasc_model::Math::FUNCTION, d.view, s.view, &tmp.view, count, loc);                     \
    }                                                                                                              \
    template <typename T, bool REUSE = false>                                                                      \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, uint32_t count, PYASC_LOC)                  \
    {                                                                                                              \
        pyasc_model::math(pyasc_model::Math::FUNCTION, d.view, s.view, nullptr, count, loc);                       \
    }
PYASC_MATH(Tanh, Tanh)
PYASC_MATH(Erf, Erf)
PYASC_MATH(Erfc, Erfc)
PYASC_MATH(Sigmoid, Sigmoid)
PYASC_MATH(Silu, Silu)
PYASC_MATH(Sin, Sin)
PYASC_MATH(Cos, Cos)
PYASC_MATH(Log2, Log2)
PYASC_MATH(Floor, Floor)
PYASC_MATH(Ceil, Ceil)
PYASC_MATH(Trunc, Trunc)
PYASC_MATH(Round, Round)
PYASC_MATH(Sign, Sign)
#undef PYASC_MATH
template <typename T, bool REUSE = false>
inline void Log(const LocalTensor<T>& d, const LocalTensor<T>& s, uint32_t count, PYASC_LOC)
{
    pyasc_model::math(pyasc_model::Math::Log, d.view, s.view, nullptr, count, loc);
}
template <typename T, bool REUSE = false>
inline void Log10(const LocalTensor<T>& d, const LocalTensor<T>& s, uint32_t count, PYASC_LOC)
{
    pyasc_model::math(pyasc_model::Math::Log10, d.view, s.view, nullptr, count, loc);
}
#define PYASC_GELU(NAME, FUNCTION)                                                                                 \
    template <typename T, bool HIGH_PRECISION = false, bool HIGH_PERFORMANCE = false>                              \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, const LocalTensor<uint8_t>& tmp,            \
                     uint32_t count, PYASC_LOC)                                                                    \
    {                                                                                                              \
        pyasc_model::math(pyasc_model::Math::FUNCTION, d.view, s.view, &tmp.view, count, loc);                     \
    }                                                                                                              \
    template <typename T, bool HIGH_PRECISION = false, bool HIGH_PERFORMANCE = false>                              \
    inline void NAME(const LocalTensor<T>& d, const LocalTensor<T>& s, uint32_t count, PYASC_LOC)                  \
    {                                                                                                              \
        pyasc_model::math(pyasc_model::Math::FUNCTION, d.view, s.view, nullptr, count, loc);                       \
    }
PYASC_GELU(Gelu, Gelu)
PYASC_GELU(FasterGelu, FasterGelu)
#undef PYASC_GELU

template <typename T>
inline void ArithProgression(const LocalTensor<T>& d, T first, T diff, int32_t count, PYASC_LOC)
{
    pyasc_model::arange(d.view, pyasc_model::to_scalar(first), pyasc_model::to_scalar(diff), count, loc);
}
template <typename T>
inline void Arange(const LocalTensor<T>& d, T first, T diff, int32_t count, PYASC_LOC)
{
    ArithProgression(d, first, diff, count, loc);
}
template <typename T, int32_t DIM, int32_t AXIS, bool REUSE = false>
inline void Broadcast(const LocalTensor<T>& d, const LocalTensor<T>& s, const uint32_t (&dstShape)[DIM],
                      const uint32_t (&srcShape)[DIM], LocalTensor<uint8_t>& tmp, PYASC_LOC)
{
    pyasc_model::broadcast(d.view, s.view, DIM, AXIS, dstShape, srcShape, tmp.view, loc);
}

struct SoftMaxShapeInfo {
    uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0;
};
template <typename T, bool REUSE = false, bool BASIC_BLOCK = false>
inline void SoftMax(const LocalTensor<T>& d, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                    const LocalTensor<T>& s, const LocalTensor<uint8_t>& tmp, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& shape = {}, PYASC_LOC)
{
    const uint32_t rows = shape.srcM ? shape.srcM : tiling.srcM;
    const uint32_t cols = shape.srcK ? shape.srcK : tiling.srcK;
    pyasc_model::soft_max(d.view, sum.view, max.view, s.view, &tmp.view, rows, cols,
                          shape.oriSrcK ? shape.oriSrcK : cols, loc);
}
template <typename T, bool REUSE = false, bool BASIC_BLOCK = false>
inline void SoftMax(const LocalTensor<T>& d, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                    const LocalTensor<T>& s, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
                    PYASC_LOC)
{
    const uint32_t rows = shape.srcM ? shape.srcM : tiling.srcM;
    const uint32_t cols = shape.srcK ? shape.srcK : tiling.srcK;
    pyasc_model::soft_max(d.view, sum.view, max.view, s.view, nullptr, rows, cols,
                          shape.oriSrcK ? shape.oriSrcK : cols, loc);
}
template <typename T, bool REUSE = false>
inline void LayerNorm(const LocalTensor<T>& out, const LocalTensor<T>& mean, const LocalTensor<T>& variance,
                      const LocalTensor<T>& x, const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
                      const LocalTensor<uint8_t>& tmp, T epsilon, LayerNormTiling& tiling, PYASC_LOC)
{
    const uint32_t shape[4] = {tiling.bLength, tiling.sLength, tiling.hLength, tiling.originalHLength};
    pyasc_model::layer_norm(out.view, mean.view, variance.view, x.view, gamma.view, beta.view, &tmp.view,
                            static_cast<float>(epsilon), shape, loc);
}
template <typename T, bool REUSE = false>
inline void LayerNorm(const LocalTensor<T>& out, const LocalTensor<T>& mean, const LocalTensor<T>& variance,
                      const LocalTensor<T>& x, const LocalTensor<T>& gamma, const LocalTensor<T>& beta, T epsilon,
                      LayerNormTiling& tiling, PYASC_LOC)
{
    const uint32_t shape[4] = {tiling.bLength, tiling.sLength, tiling.hLength, tiling.originalHLength};
    pyasc_model::layer_norm(out.view, mean.view, variance.view, x.view, gamma.view, beta.view, nullptr,
                            static_cast<float>(epsilon), shape, loc);
}

}  // namespace AscendC
