// SPDX-License-Identifier: Apache-2.0
// LocalTensor and GlobalTensor.
#pragma once
#include "core_api.h"

namespace AscendC {

using pyasc_model::DTypeOf;
using pyasc_model::GmView;
using pyasc_model::View;

// What `a + b` and `a < b` stand for until they are assigned to a tensor, whose whole length they then fill.
template <typename T>
struct BinaryExpression {
    pyasc_model::Op op;
    View a, b;
};
template <typename T>
struct CompareExpression {
    CMPMODE mode;
    View a, b;
};

template <typename T>
class LocalTensor {
public:
    using PrimType = T;

    // A write-through reference, so that `t(i) = v` is a scalar store and not a C++ reference into the model.
    class Element {
    public:
        Element(const LocalTensor& t, uint32_t i, pyasc_model::Loc l) : tensor_(t), index_(i), loc_(l) {}
        operator T() const { return tensor_.GetValue(index_, loc_); }
        Element& operator=(T v)
        {
            tensor_.SetValue(index_, v, loc_);
            return *this;
        }

    private:
        LocalTensor tensor_;
        uint32_t index_;
        pyasc_model::Loc loc_;
    };

    LocalTensor() { view.dtype = DTypeOf<T>::value; }
    explicit LocalTensor(const View& v) : view(v) { view.dtype = DTypeOf<T>::value; }
    LocalTensor(TPosition pos, uint32_t addr, uint32_t count, PYASC_LOC)
        : view(pyasc_model::static_tensor(pos, addr, count * sizeof(T), DTypeOf<T>::value, loc)) {}

    void operator=(const BinaryExpression<T>& e)
    {
        const View sources[2] = {e.a, e.b};
        pyasc_model::elementwise(e.op, view, sources, 2, pyasc_model::Lanes::count(GetSize()),
                                 pyasc_model::Strides::dense(), {}, RoundMode::CAST_NONE, pyasc_model::last_call());
    }
    template <typename S>
    void operator=(const CompareExpression<S>& e)
    {
        pyasc_model::compare(view, e.a, &e.b, {}, e.mode, pyasc_model::Lanes::count(e.a.bytes / sizeof(S)),
                             pyasc_model::Strides::dense(), pyasc_model::last_call());
    }

    LocalTensor operator[](uint32_t offset) const
    {
        LocalTensor t(view);
        const uint32_t bytes = offset * static_cast<uint32_t>(sizeof(T));
        t.view.addr += bytes;
        t.view.bytes = bytes < view.bytes ? view.bytes - bytes : 0;
        return t;
    }
    T GetValue(uint32_t index, PYASC_LOC) const
    {
        T v;
        pyasc_model::local_read(view, index, &v, loc);
        return v;
    }
    template <typename U>
    void SetValue(uint32_t index, U value, PYASC_LOC) const
    {
        const T v = static_cast<T>(value);
        pyasc_model::local_write(view, index, &v, loc);
    }
    Element operator()(uint32_t index, PYASC_LOC) const { return Element(*this, index, loc); }
    template <typename U>
    LocalTensor<U> ReinterpretCast() const
    {
        return LocalTensor<U>(view);
    }
    uint32_t GetSize() const { return view.bytes / sizeof(T); }
    void SetSize(uint32_t count) { view.bytes = count * sizeof(T); }
    uint32_t GetLength() const { return view.bytes; }
    TPosition GetPosition() const { return view.position; }
    uint64_t GetPhyAddr(uint32_t offset = 0) const { return view.addr + offset * sizeof(T); }

    View view;
};

template <typename T>
class GlobalTensor {
public:
    using PrimType = T;

    GlobalTensor() { view.dtype = DTypeOf<T>::value; }
    void SetGlobalBuffer(T* ptr, uint64_t count)
    {
        view.ptr = view.begin = reinterpret_cast<uint8_t*>(ptr);
        view.end = view.ptr + count * sizeof(T);
    }
    void SetGlobalBuffer(T* ptr)
    {
        view.ptr = view.begin = reinterpret_cast<uint8_t*>(ptr);
        view.end = nullptr;
    }
    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor t(*this);
        t.view.ptr += offset * sizeof(T);
        return t;
    }
    T GetValue(uint64_t offset, PYASC_LOC) const
    {
        T v;
        pyasc_model::global_read(view, offset, &v, false, loc);
        return v;
    }
    void SetValue(uint64_t offset, T value, PYASC_LOC) const
    {
        pyasc_model::global_write(view, offset, &value, false, loc);
    }
    T* GetPhyAddr(uint64_t offset = 0) const { return reinterpret_cast<T*>(view.ptr) + offset; }
    uint64_t GetSize() const { return view.end == nullptr ? 0 : (view.end - view.ptr) / sizeof(T); }
    template <CacheRwMode MODE = CacheRwMode::RW>
    void SetL2CacheHint(CacheMode mode)
    {
        view.bypass_l2 = mode == CacheMode::CACHE_MODE_DISABLE;
    }

    GmView view;
};

#define PYASC_OPERATOR(SIGN, OP)                                                                                   \
    template <typename T>                                                                                          \
    inline BinaryExpression<T> operator SIGN(const LocalTensor<T>& a, const LocalTensor<T>& b)                     \
    {                                                                                                              \
        return {pyasc_model::Op::OP, a.view, b.view};                                                              \
    }
PYASC_OPERATOR(+, Add)
PYASC_OPERATOR(-, Sub)
PYASC_OPERATOR(*, Mul)
PYASC_OPERATOR(/, Div)
PYASC_OPERATOR(&, And)
PYASC_OPERATOR(|, Or)
#undef PYASC_OPERATOR
#define PYASC_OPERATOR(SIGN, MODE)                                                                                 \
    template <typename T>                                                                                          \
    inline CompareExpression<T> operator SIGN(const LocalTensor<T>& a, const LocalTensor<T>& b)                    \
    {                                                                                                              \
        return {CMPMODE::MODE, a.view, b.view};                                                                    \
    }
PYASC_OPERATOR(<, LT)
PYASC_OPERATOR(>, GT)
PYASC_OPERATOR(==, EQ)
PYASC_OPERATOR(<=, LE)
PYASC_OPERATOR(>=, GE)
PYASC_OPERATOR(!=, NE)
#undef PYASC_OPERATOR

template <typename T>
constexpr bool IsInteger = !IsSameType<T, float>::value && !IsSameType<T, double>::value
    && !IsSameType<T, half>::value && !IsSameType<T, bfloat16_t>::value;

template <typename T>
inline T ReadGmByPassDCache(T* addr, PYASC_LOC)
{
    static_assert(IsInteger<T>, "accesses past the data cache take integers");
    GlobalTensor<T> t;
    t.SetGlobalBuffer(addr);
    T v;
    pyasc_model::global_read(t.view, 0, &v, true, loc);
    return v;
}
template <typename T>
inline void WriteGmByPassDCache(T* addr, T value, PYASC_LOC)
{
    static_assert(IsInteger<T>, "accesses past the data cache take integers");
    GlobalTensor<T> t;
    t.SetGlobalBuffer(addr);
    pyasc_model::global_write(t.view, 0, &value, true, loc);
}

template <typename T, CacheLine LINE, DcciDst DST = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& t, PYASC_LOC)
{
    pyasc_model::cache_clean(t.view, LINE == CacheLine::ENTIRE_DATA_CACHE,
                             DST == DcciDst::CACHELINE_OUT || DST == DcciDst::CACHELINE_ALL, loc);
}

template <Hardware MEMORY>
class LocalMemAllocator {
public:
    template <typename T, uint32_t N>
    LocalTensor<T> Alloc(PYASC_LOC)
    {
        return Alloc<T>(N, loc);
    }
    template <typename T>
    LocalTensor<T> Alloc(uint32_t count, PYASC_LOC)
    {
        const uint32_t bytes = count * static_cast<uint32_t>(sizeof(T));
        return LocalTensor<T>(position(), pyasc_model::linear_alloc(MEMORY, &used_, bytes, loc), count, loc);
    }
    uint32_t GetCurAddr() const { return used_; }

private:
    static constexpr TPosition position()
    {
        return MEMORY == Hardware::UB ? TPosition::VECCALC : MEMORY == Hardware::L1 ? TPosition::A1
             : MEMORY == Hardware::L0A ? TPosition::A2 : MEMORY == Hardware::L0B ? TPosition::B2
             : MEMORY == Hardware::L0C ? TPosition::CO1 : MEMORY == Hardware::BIAS ? TPosition::C2
                                                                                   : TPosition::C2PIPE2GM;
    }
    uint32_t used_ = 0;
};

}  // namespace AscendC
