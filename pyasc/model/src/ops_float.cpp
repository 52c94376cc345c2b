// SPDX-License-Identifier: Apache-2.0
// Flat kernels of float and half arithmetic (api.md section 3, special values of hardware.md section 4).
#include <math.h>

#include "fastmath.h"
#include "lanes.h"

namespace pyasc_model {

namespace {

#define BODY(NAME, EXPRESSION)                                                                                     \
    struct NAME {                                                                                                  \
        static float apply([[maybe_unused]] float a, [[maybe_unused]] float b, [[maybe_unused]] float d,           \
                           [[maybe_unused]] const FlatArgs& args, [[maybe_unused]] size_t i)                       \
        {                                                                                                          \
            return EXPRESSION;                                                                                     \
        }                                                                                                          \
    };

inline float nan_max(float a, float b) { return a != a ? a : b != b ? b : a > b ? a : b; }
inline float nan_min(float a, float b) { return a != a ? a : b != b ? b : a < b ? a : b; }
inline float relu(float a) { return a < 0 ? 0.0f : a; }
inline float scalar_of(const FlatArgs& args) { return static_cast<float>(args.scalar.f); }

// Reciprocal and Rsqrt are approximations: the facts only bound the error from below (api.md section 3). Keeping 11
// (float) or 8 (half) mantissa bits is `assumed`; it makes a kernel that relies on them for accuracy fail here too.
template <int DROP>
inline float coarse(float v)
{
    const uint32_t bits = __builtin_bit_cast(uint32_t, v);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    const uint32_t rounded = (bits + (1u << (DROP - 1))) & ~((1u << DROP) - 1);
    return finite ? __builtin_bit_cast(float, rounded) : v;
}

BODY(ExpOp, exp_lane(a))
BODY(LnOp, log_lane(a))
BODY(SqrtOp, sqrtf(a))
BODY(RsqrtOp, coarse<12>(1.0f / sqrtf(a)))
BODY(RsqrtHalf, coarse<15>(1.0f / sqrtf(a)))
BODY(ReciprocalOp, coarse<12>(1.0f / a))
BODY(ReciprocalHalf, coarse<15>(1.0f / a))
BODY(AbsOp, fabsf(a))
BODY(ReluOp, relu(a))
BODY(AddOp, a + b)
BODY(SubOp, a - b)
BODY(MulOp, a * b)
BODY(DivOp, a / b)
BODY(MaxOp, nan_max(a, b))
BODY(MinOp, nan_min(a, b))
BODY(AddReluOp, relu(a + b))
BODY(SubReluOp, relu(a - b))
// Whether the product is rounded before the sum is not published; two roundings are `assumed`.
BODY(MulAddDstOp, a * b + d)
BODY(FusedMulAddOp, a * d + b)
BODY(MulAddReluOp, relu(a * d + b))
BODY(AddsOp, a + scalar_of(args))
BODY(MulsOp, a * scalar_of(args))
BODY(MaxsOp, nan_max(a, scalar_of(args)))
BODY(MinsOp, nan_min(a, scalar_of(args)))
BODY(LeakyReluOp, a < 0 ? a * scalar_of(args) : a)
BODY(AxpyOp, a * scalar_of(args) + d)
BODY(IndexOp, scalar_of(args) + static_cast<float>(args.index + i))
BODY(FillOp, scalar_of(args))
#undef BODY

template <typename T, typename F, int SOURCES, bool READS_DST = false>
void both(FlatTable& t, Op op, float half_rate, float float_rate, bool chain = false)
{
    (void)sizeof(T);
    slot(t, op, DType::F32, DType::F32) = kernel<F32, F32, SOURCES, F, READS_DST>(float_rate, chain);
    slot(t, op, DType::F16, DType::F16) = kernel<F16, F16, SOURCES, F, READS_DST>(half_rate, chain);
}

}  // namespace

void add_float_kernels(FlatTable& t)
{
    both<F32, ExpOp, 1>(t, Op::Exp, 32, 32);
    both<F32, LnOp, 1>(t, Op::Ln, 32, 32);
    both<F32, SqrtOp, 1>(t, Op::Sqrt, 32, 32);
    both<F32, RsqrtOp, 1>(t, Op::Rsqrt, 128, 64);
    both<F32, ReciprocalOp, 1>(t, Op::Reciprocal, 128, 64);
    slot(t, Op::Rsqrt, DType::F16, DType::F16) = kernel<F16, F16, 1, RsqrtHalf>(128);
    slot(t, Op::Reciprocal, DType::F16, DType::F16) = kernel<F16, F16, 1, ReciprocalHalf>(128);
    both<F32, AbsOp, 1>(t, Op::Abs, 128, 64);
    both<F32, ReluOp, 1>(t, Op::Relu, 128, 64);
    both<F32, AddOp, 2>(t, Op::Add, 128, 64, true);
    both<F32, SubOp, 2>(t, Op::Sub, 128, 64, true);
    both<F32, MulOp, 2>(t, Op::Mul, 128, 64, true);
    both<F32, DivOp, 2>(t, Op::Div, 32, 32);
    both<F32, MaxOp, 2>(t, Op::Max, 128, 64, true);
    both<F32, MinOp, 2>(t, Op::Min, 128, 64, true);
    both<F32, AddReluOp, 2>(t, Op::AddRelu, 128, 64, true);
    both<F32, SubReluOp, 2>(t, Op::SubRelu, 128, 64, true);
    both<F32, MulAddDstOp, 2, true>(t, Op::MulAddDst, 64, 32);
    slot(t, Op::MulAddDst, DType::F32, DType::F16) = kernel<F32, F16, 2, MulAddDstOp, true>(32);
    both<F32, FusedMulAddOp, 2, true>(t, Op::FusedMulAdd, 128, 64);
    both<F32, MulAddReluOp, 2, true>(t, Op::MulAddRelu, 128, 64);
    both<F32, AddsOp, 1>(t, Op::Adds, 128, 64);
    both<F32, MulsOp, 1>(t, Op::Muls, 128, 64);
    both<F32, MaxsOp, 1>(t, Op::Maxs, 128, 64);
    both<F32, MinsOp, 1>(t, Op::Mins, 128, 64);
    both<F32, LeakyReluOp, 1>(t, Op::LeakyRelu, 128, 64);
    both<F32, AxpyOp, 1, true>(t, Op::Axpy, 128, 64);
    slot(t, Op::Axpy, DType::F32, DType::F16) = kernel<F32, F16, 1, AxpyOp, true>(64);
    both<F32, IndexOp, 0>(t, Op::CreateVecIndex, 128, 64);
    both<F32, FillOp, 0>(t, Op::Duplicate, 128, 64);
    slot(t, Op::Duplicate, DType::BF16, DType::BF16) = kernel<BF16, BF16, 0, FillOp>(128);
    slot(t, Op::AddReluCast, DType::F16, DType::F32) = kernel<F16, F32, 2, AddReluOp>(64);
    slot(t, Op::SubReluCast, DType::F16, DType::F32) = kernel<F16, F32, 2, SubReluOp>(64);
}

}  // namespace pyasc_model
