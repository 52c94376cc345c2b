// SPDX-License-Identifier: Apache-2.0
// How lanes of each type are fetched into the type they are computed in, and stored back.
#pragma once
#include "half.h"
#include "vector.h"

namespace pyasc_model {

constexpr size_t CHUNK = 256;

struct F32 {
    using Store = float;
    using Comp = float;
    static const float* fetch(const void* p, float*, size_t) { return static_cast<const float*>(p); }
    static float* open(void* p, float*) { return static_cast<float*>(p); }
    static void close(const float*, void*, size_t) {}
};
struct F16 {
    using Store = uint16_t;
    using Comp = float;
    static const float* fetch(const void* p, float* tmp, size_t n)
    {
        half_to_float(static_cast<const uint16_t*>(p), tmp, n);
        return tmp;
    }
    static float* open(void*, float* tmp) { return tmp; }
    static void close(const float* tmp, void* p, size_t n) { float_to_half(tmp, static_cast<uint16_t*>(p), n); }
};
struct BF16 {
    using Store = uint16_t;
    using Comp = float;
    static const float* fetch(const void* p, float* tmp, size_t n)
    {
        bfloat16_to_float(static_cast<const uint16_t*>(p), tmp, n);
        return tmp;
    }
    static float* open(void*, float* tmp) { return tmp; }
    static void close(const float* tmp, void* p, size_t n) { float_to_bfloat16(tmp, static_cast<uint16_t*>(p), n); }
};
template <typename T>
struct Int {
    using Store = T;
    using Comp = T;
    static const T* fetch(const void* p, T*, size_t) { return static_cast<const T*>(p); }
    static T* open(void* p, T*) { return static_cast<T*>(p); }
    static void close(const T*, void*, size_t) {}
};

// The bits of a scalar in a lane of 16 or 32 bits, in the low ones.
inline uint32_t lane_bits(DType type, Scalar s)
{
    if (type == DType::I32) {
        return static_cast<uint32_t>(s.i);
    }
    const float value = static_cast<float>(s.f);
    return type == DType::F32 ? __builtin_bit_cast(uint32_t, value) : half_bits(value);
}

// d[i] = F(a[i], b[i], old d[i], args), in chunks that stay in the first-level cache.
template <typename D, typename S, int SOURCES, bool READS_DST, typename F>
void flat(void* d, const void* const* s, size_t n, const FlatArgs& args)
{
    typename S::Comp bufa[CHUNK], bufb[CHUNK];
    typename D::Comp bufd[CHUNK], bufo[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        using Ss = typename S::Store;
        using Ds = typename D::Store;
        const typename S::Comp* a = SOURCES > 0 ? S::fetch(static_cast<const Ss*>(s[0]) + i, bufa, m) : bufa;
        const typename S::Comp* b = SOURCES > 1 ? S::fetch(static_cast<const Ss*>(s[1]) + i, bufb, m) : a;
        Ds* at = static_cast<Ds*>(d) + i;
        const typename D::Comp* old = READS_DST ? D::fetch(at, bufd, m) : bufd;
        typename D::Comp* out = D::open(at, bufo);
#pragma GCC ivdep
        for (size_t j = 0; j < m; ++j) {
            out[j] = F::apply(a[j], b[j], old[j], args, i + j);
        }
        D::close(bufo, at, m);
    }
}

template <typename D, typename S, int SOURCES, typename F, bool READS_DST = false>
FlatKernel kernel(float rate, bool chain = false)
{
    FlatKernel k;
    k.fn = flat<D, S, SOURCES, READS_DST, F>;
    k.rate = rate;
    k.reads_dst = READS_DST;
    k.chain = chain;
    return k;
}

inline FlatKernel& slot(FlatTable& t, Op op, DType d, DType s)
{
    return t[static_cast<int>(op)][static_cast<int>(d)][static_cast<int>(s)];
}

}  // namespace pyasc_model
