// SPDX-License-Identifier: Apache-2.0
// The elementwise engine: checks one instruction, runs its flat kernel over the lanes, moves undefined bits along.
#include "vector.h"

#include <string.h>

#include <algorithm>

#include "batch.h"
#include "lanes.h"

namespace pyasc_model {

FlatTable& flat_table()
{
    static FlatTable table;
    static const bool filled = [] {
        add_float_kernels(table);
        add_integer_kernels(table);
        add_cast_kernels(table);
        return true;
    }();
    (void)filled;
    return table;
}

double vector_cycles(const Plan& plan, double elements_per_cycle)
{
    return launch->number("vector_startup_cycles") + plan.repeats * (plan.lanes / elements_per_cycle);
}

namespace {

template <typename T>
void gather_flags(uint8_t* flags, const uint8_t* s, size_t n)
{
    const T* p = reinterpret_cast<const T*>(s);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        flags[i] = static_cast<uint8_t>(flags[i] | (p[i] != 0 ? 0xff : 0));
    }
}

template <typename T>
void spread_flags(uint8_t* d, const uint8_t* flags, size_t n)
{
    T* p = reinterpret_cast<T*>(d);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        p[i] = flags[i] != 0 ? static_cast<T>(~T(0)) : T(0);
    }
}

}  // namespace

bool all_zero(const uint8_t* p, size_t n)
{
    constexpr size_t STEP = 512;
    for (; n >= STEP; p += STEP, n -= STEP) {
        uint8_t some = 0;
        for (size_t i = 0; i < STEP; ++i) {
            some = static_cast<uint8_t>(some | p[i]);
        }
        if (some != 0) {
            return false;
        }
    }
    return std::all_of(p, p + n, [](uint8_t v) { return v == 0; });
}

void merge_undefined(uint8_t* d, uint32_t dsize, const uint8_t* const* s, const uint32_t* ssize, int sources, size_t n)
{
    // By far the most lanes are defined.
    bool defined = true;
    for (int k = 0; k < sources && defined; ++k) {
        defined = all_zero(s[k], n * ssize[k]);
    }
    if (defined) {
        memset(d, 0, n * dsize);
        return;
    }
    uint8_t flags[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = std::min(n - i, CHUNK);
        memset(flags, 0, m);
        for (int k = 0; k < sources; ++k) {
            const uint8_t* p = s[k] + i * ssize[k];
            switch (ssize[k]) {
            case 1: gather_flags<uint8_t>(flags, p, m); break;
            case 2: gather_flags<uint16_t>(flags, p, m); break;
            case 4: gather_flags<uint32_t>(flags, p, m); break;
            default: gather_flags<uint64_t>(flags, p, m); break;
            }
        }
        uint8_t* out = d + i * dsize;
        switch (dsize) {
        case 1: spread_flags<uint8_t>(out, flags, m); break;
        case 2: spread_flags<uint16_t>(out, flags, m); break;
        case 4: spread_flags<uint32_t>(out, flags, m); break;
        default: spread_flags<uint64_t>(out, flags, m); break;
        }
    }
}

namespace {

// One instruction under way: operand 0 is the destination.
struct Run {
    const FlatKernel& kernel;
    Region operand[3];
    int sources;
    FlatArgs args;

    void span(uint8_t* d, const uint8_t* const* s, uint8_t* du, const uint8_t* const* su, size_t n) const
    {
        const void* in[2] = {s[0], s[1]};
        kernel.fn(d, in, n, args);
        if (du == nullptr) {
            return;
        }
        const uint32_t esize = operand[0].esize;
        if (kernel.shadow == Shadow::NONE || (sources == 0 && !kernel.reads_dst)) {
            memset(du, 0, n * esize);
            return;
        }
        if (kernel.shadow == Shadow::BITWISE) {
            for (size_t i = 0; i < n * esize; ++i) {
                du[i] = static_cast<uint8_t>(su[0][i] | (sources > 1 ? su[1][i] : 0));
            }
            return;
        }
        const uint8_t* all[3] = {su[0], su[1], du};
        uint32_t sizes[3] = {operand[1].esize, operand[2].esize, esize};
        int count = sources;
        if (kernel.reads_dst) {
            all[count] = du;
            sizes[count++] = esize;
        }
        merge_undefined(du, esize, all, sizes, count, n);
    }

    void direct(uint32_t repeat, size_t n)
    {
        const uint8_t* s[2] = {nullptr, nullptr};
        const uint8_t* su[2] = {nullptr, nullptr};
        for (int i = 0; i < sources; ++i) {
            const Region& r = operand[i + 1];
            s[i] = data_at(r.space, r.base + repeat * r.repeat);
            su[i] = undefined_at(r.space, r.base + repeat * r.repeat);
        }
        const Region& d = operand[0];
        const uint32_t at = d.base + repeat * d.repeat;
        args.index = uint64_t(repeat) * d.plan->lanes;
        span(data_at(d.space, at), s, undefined_at(d.space, at), su, n);
    }

    static void collect(const Region& r, uint32_t repeat, uint8_t* data, uint8_t* undefined)
    {
        for (uint32_t b = 0; b < r.blocks; ++b) {
            const uint32_t at = r.base + repeat * r.repeat + b * r.block;
            const uint32_t live = r.body_bytes[b] | r.tail_bytes[b];
            if (live == 0 || at + 32 > memory(r.space).size + 32) {
                continue;
            }
            memcpy(data + b * 32, data_at(r.space, at), 32);
            if (undefined != nullptr) {
                memcpy(undefined + b * 32, undefined_at(r.space, at), 32);
            }
        }
    }

    static void put_block(uint8_t* to, const uint8_t* from, uint32_t mask)
    {
        if ((mask & (mask + 1)) == 0) {
            memcpy(to, from, mask == 0xffffffff ? 32 : static_cast<uint32_t>(__builtin_popcount(mask)));
            return;
        }
        for (uint32_t bits = mask; bits != 0; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            to[i] = from[i];
        }
    }

    static void scatter(const Region& r, uint32_t repeat, const uint8_t* data, const uint8_t* undefined)
    {
        const uint32_t* bytes = repeat + 1 == r.plan->repeats ? r.tail_bytes : r.body_bytes;
        for (uint32_t b = 0; b < r.blocks; ++b) {
            const uint32_t at = r.base + repeat * r.repeat + b * r.block;
            put_block(data_at(r.space, at), data + b * 32, bytes[b]);
            if (undefined != nullptr) {
                put_block(undefined_at(r.space, at), undefined + b * 32, bytes[b]);
            }
        }
    }

    void masked(uint32_t repeat)
    {
        alignas(64) uint8_t data[3][256], undefined[3][256];
        memset(data, 0, sizeof data);
        const bool track = launch->check;
        for (int i = kernel.reads_dst ? 0 : 1; i <= sources; ++i) {
            collect(operand[i], repeat, data[i], track ? undefined[i] : nullptr);
        }
        const uint8_t* s[2] = {data[1], data[2]};
        const uint8_t* su[2] = {undefined[1], undefined[2]};
        args.index = uint64_t(repeat) * operand[0].plan->lanes;
        span(data[0], s, track ? undefined[0] : nullptr, su, operand[0].plan->lanes);
        scatter(operand[0], repeat, data[0], track ? undefined[0] : nullptr);
    }

    // One run of lanes in every operand.
    bool dense() const
    {
        bool all = operand[0].plan->prefix && operand[0].plan->body_full();
        for (int i = 0; i <= sources; ++i) {
            all = all && operand[i].dense();
        }
        return all;
    }

    bool put_off_lanes() const
    {
        if (!deferring() || !dense()) {
            return false;
        }
        Step& s = new_step();
        s.run = [](const Step& step, uint64_t lane, uint64_t n) {
            const void* in[2] = {step.in[0].part(lane), step.sources > 1 ? step.in[1].part(lane) : nullptr};
            FlatArgs at = step.args;
            at.index += lane / step.per;
            step.flat(step.out.part(lane), in, n / step.per, at);
        };
        s.lanes = operand[0].plan->total();
        s.out = span_of(operand[0]);
        s.sources = sources;
        for (int i = 0; i < sources; ++i) {
            s.in[i] = span_of(operand[i + 1]);
        }
        s.flat = kernel.fn;
        s.args = args;
        return put_off(s);
    }

    void all()
    {
        const Plan& p = *operand[0].plan;
        bool dense_repeats = p.prefix;
        for (int i = 0; i <= sources; ++i) {
            dense_repeats = dense_repeats && operand[i].dense_repeat();
        }
        if (dense()) {
            direct(0, p.total());
            return;
        }
        for (uint32_t r = 0; r < p.repeats; ++r) {
            if (dense_repeats) {
                direct(r, r + 1 == p.repeats ? p.tail_count : p.body_count);
            } else {
                masked(r);
            }
        }
    }
};

bool allowed(const FlatKernel& k, Op op, const View& dst, const View* src, int sources, AscendC::RoundMode mode,
             Loc loc)
{
    static const char* const NAMES[] = {"half", "bfloat16", "float", "int8", "uint8", "int16",
                                        "uint16", "int32", "uint32", "int64", "uint64"};
    if (k.fn == nullptr) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "this SoC has no such vector operation from %s to %s",
               NAMES[static_cast<int>(sources ? src[0].dtype : dst.dtype)], NAMES[static_cast<int>(dst.dtype)]);
        return false;
    }
    if (op == Op::Cast && !((k.modes >> static_cast<int>(mode)) & 1)) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "this SoC has no Cast from %s to %s with round mode %d",
               NAMES[static_cast<int>(src[0].dtype)], NAMES[static_cast<int>(dst.dtype)], static_cast<int>(mode));
        return false;
    }
    if (k.needs_deq && !core->deq_set) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "the conversion needs SetDeqScale before it");
    }
    return true;
}

// Sources whose blocks share bank groups are read one after the other. The facts give the factor 2 for all blocks of
// two sources in common groups; in between it is taken as linear (`assumed`). Writes are not counted.
double bank_conflict(const Region* operand, int sources)
{
    if (sources < 2) {
        return 1;
    }
    const auto group = [](const Region& r) { return static_cast<int>(r.base >> 5 & 15); };
    const bool dense = operand[1].block == 32 && operand[2].block == 32;
    if (!dense || operand[1].base == operand[2].base) {
        return 1;
    }
    const int apart = (group(operand[1]) - group(operand[2]) + 16) % 16;
    const int blocks = static_cast<int>(operand[1].blocks);
    const int shared = std::max(0, blocks - std::min(apart, 16 - apart));
    return 1 + static_cast<double>(shared) / blocks;
}

}  // namespace

void elementwise(Op op, const View& dst, const View* src, int sources, const Lanes& lanes, const Strides& strides,
                 Scalar scalar, AscendC::RoundMode mode, Loc loc)
{
    need_vector_core("an elementwise operation", loc);
    const FlatKernel& k = slot(flat_table(), op, dst.dtype, sources ? src[0].dtype : dst.dtype);
    if (!allowed(k, op, dst, src, sources, mode, loc)) {
        return;
    }
    uint32_t widest = dtype_bytes(dst.dtype);
    for (int i = 0; i < sources; ++i) {
        widest = std::max(widest, dtype_bytes(src[i].dtype));
    }
    const Plan plan = resolve(lanes, widest, loc);
    scalar_cost(lanes.form == Lanes::COUNT ? launch->number("count_form_scalar_cycles")
                                           : launch->number("issue_cycles"));
    if (plan.repeats == 0) {
        return;
    }
    const auto region = [&](int i) {
        return make_region(i == 0 ? dst : src[i - 1], plan, strides.block[i], strides.repeat[i], loc);
    };
    Run run{k,
            {region(0), sources > 0 ? region(1) : Region{}, sources > 1 ? region(2) : Region{}},
            sources,
            {scalar, mode, 0, core->deq, core->deq_offset}};
    for (int i = 0; i <= sources; ++i) {
        if (!check_operand(i == 0 ? dst : src[i - 1], run.operand[i], 32, PIPE_V, loc)) {
            return;
        }
    }
    const Region& out = run.operand[0];
    if (out.block == 0 && (out.body_bytes[1] | out.tail_bytes[1]) != 0) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "a block stride of 0 is not defined for a destination");
        return;
    }
    const OpId id = begin_deferrable(PIPE_V, loc);
    if (launch->check) {
        const bool widening = op == Op::Cast && dtype_bytes(dst.dtype) != dtype_bytes(src[0].dtype);
        check_overlap(run.operand[0], run.operand + 1, sources, k.chain && !widening, loc);
        touch(run.operand[0], true, id, loc);
        for (int i = k.reads_dst ? 0 : 1; i <= sources; ++i) {
            touch(run.operand[i], false, id, loc);
        }
    }
    if (!run.put_off_lanes()) {
        settle();
        run.all();
    }
    charge(PIPE_V, vector_cycles(plan, k.rate / bank_conflict(run.operand, sources)));
}

}  // namespace pyasc_model
