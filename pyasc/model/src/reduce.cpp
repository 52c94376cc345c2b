// SPDX-License-Identifier: Apache-2.0
// Reductions (api.md section 6): within repeats, within blocks, of pairs, and the software ones over a tensor.
#include <string.h>

#include <algorithm>

#include "lanes.h"

namespace pyasc_model {

namespace {

using AscendC::ReduceOrder;

bool is_half(DType t) { return t == DType::F16; }

// What a reduction leaves: `live` is false when the mask let no lane through.
struct Item {
    float value = 0;
    uint32_t index = 0;
    bool live = false, undefined = false;
};

// The active lanes of one repeat, in order, with their lane numbers.
struct Lot {
    float value[128];
    uint8_t lane[128];
    uint32_t count = 0;
    bool undefined = false;
};

void collect_run(const Region& r, uint32_t repeat, uint32_t first, uint32_t n, Lot& out)
{
    const uint32_t at = r.base + r.lane_offset(repeat, first);
    const uint8_t* p = data_at(UB, at);
    if (r.esize == 2) {
        half_to_float(reinterpret_cast<const uint16_t*>(p), out.value + out.count, n);
    } else {
        memcpy(out.value + out.count, p, n * 4);
    }
    for (uint32_t i = 0; i < n; ++i) {
        out.lane[out.count + i] = static_cast<uint8_t>(first + i);
    }
    if (launch->check) {
        const uint8_t* u = undefined_at(UB, at);
        uint8_t any = 0;
        for (uint32_t i = 0; i < n * r.esize; ++i) {
            any = static_cast<uint8_t>(any | u[i]);
        }
        out.undefined = out.undefined || any != 0;
    }
    out.count += n;
}

// Lanes [first, last) of a repeat.
void collect(const Region& r, uint32_t repeat, uint32_t first, uint32_t last, Lot& out)
{
    const Plan& plan = *r.plan;
    const uint32_t per_block = 32 / r.esize;
    out.count = 0;
    out.undefined = false;
    if (plan.prefix) {
        last = std::min(last, repeat + 1 == plan.repeats ? plan.tail_count : plan.body_count);
    }
    for (uint32_t lane = first; lane < last;) {
        const uint32_t n = plan.prefix ? std::min(last - lane, per_block - lane % per_block) : 1;
        if (plan.prefix || plan.active(repeat, lane)) {
            collect_run(r, repeat, lane, n, out);
        }
        lane += n;
    }
}

float round_to(DType t, float v) { return is_half(t) ? half_value(half_bits(v)) : v; }

// Adjacent pairs, then pairs of pairs: the binary tree of the documentation; that it starts with neighbours, closes up
// over lanes the mask leaves out, and rounds to the type at every node is `assumed`.
float tree_sum(DType t, float* v, uint32_t n)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (uint32_t i = 0; i < n / 2; ++i) {
            v[i] = v[2 * i] + v[2 * i + 1];
        }
        for (uint32_t i = 0; is_half(t) && i < n / 2; ++i) {
            v[i] = round_to(t, v[i]);
        }
        if (n % 2) {
            v[n / 2] = v[n - 1];
        }
    }
    return v[0];
}

// NaN wins, and on ties the earlier one.
bool beats(Fold f, float now, float best)
{
    return best == best && (now != now || (f == Fold::MAX ? now > best : now < best));
}

Item reduce_lot(Fold f, DType t, Lot& lot)
{
    Item out;
    if (lot.count == 0) {
        return out;
    }
    out.live = true;
    out.undefined = lot.undefined;
    if (f == Fold::SUM) {
        out.value = tree_sum(t, lot.value, lot.count);
        return out;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < lot.count; ++i) {
        best = beats(f, lot.value[i], lot.value[best]) ? i : best;
    }
    out.value = lot.value[best];
    out.index = lot.lane[best];
    return out;
}

void store_value(uint32_t at, DType t, float value, bool undefined)
{
    if (is_half(t)) {
        const uint16_t bits = half_bits(value);
        memcpy(data_at(UB, at), &bits, 2);
    } else {
        memcpy(data_at(UB, at), &value, 4);
    }
    if (launch->check) {
        memset(undefined_at(UB, at), undefined ? 0xff : 0, is_half(t) ? 2 : 4);
    }
}

void store_index(uint32_t at, DType t, uint32_t index, bool undefined)
{
    memcpy(data_at(UB, at), &index, is_half(t) ? 2 : 4);
    if (launch->check) {
        memset(undefined_at(UB, at), undefined ? 0xff : 0, is_half(t) ? 2 : 4);
    }
}

// The result registers hold the last result of their kind.
void keep_result(Fold f, const Item& got)
{
    if (f == Fold::SUM) {
        core->acc_value = got.value;
    } else {
        core->extreme_value = got.value;
        core->extreme_index = got.index;
    }
}

bool reducible(DType t, Loc loc)
{
    if (t == DType::F16 || t == DType::F32) {
        return true;
    }
    report("dtype", loc, PIPE_V, nullptr, 0, 0, "this SoC reduces half and float: cast integers to float");
    return false;
}

double rate_of(const char* what, DType t)
{
    const bool repeat = strcmp(what, "repeat") == 0;
    return is_half(t) ? 128.0 / 7 : repeat ? 64.0 / 7 : 64.0;
}

}  // namespace

void reduce_repeat(Fold f, const View& dst, const View& src, const Lanes& lanes, int dst_repeat, int src_block,
                   int src_repeat, ReduceOrder order, Loc loc)
{
    need_vector_core("a repeat reduction", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (!reducible(src.dtype, loc)) {
        return;
    }
    const uint32_t esize = dtype_bytes(src.dtype);
    const Plan plan = resolve(lanes, esize, loc);
    if (plan.repeats == 0) {
        return;
    }
    const bool pair = order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
    const uint32_t slot = pair ? 2 * esize : esize;
    const Region rs = make_region(src, plan, static_cast<uint16_t>(src_block), static_cast<uint16_t>(src_repeat), loc);
    const Rows out{UB, dst.addr, plan.repeats, slot, static_cast<uint32_t>(dst_repeat) * slot};
    const uint32_t align = f == Fold::SUM ? esize : 2 * esize;
    if (!check_operand(src, rs, 32, PIPE_V, loc) || !check_rows(dst, out, align, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    touch(out, true, id, loc);
    touch(rs, false, id, loc);
    Lot lot;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        collect(rs, r, 0, plan.lanes, lot);
        const Item got = reduce_lot(f, src.dtype, lot);
        const uint32_t at = dst.addr + r * out.step;
        if (order != ReduceOrder::ORDER_ONLY_INDEX) {
            store_value(at + (order == ReduceOrder::ORDER_INDEX_VALUE ? esize : 0), src.dtype, got.value, got.undefined);
        }
        if (order != ReduceOrder::ORDER_ONLY_VALUE) {
            store_index(at + (order == ReduceOrder::ORDER_VALUE_INDEX ? esize : 0), src.dtype, got.index, got.undefined);
        }
        keep_result(f, got);
    }
    charge(PIPE_V, vector_cycles(plan, rate_of("repeat", src.dtype)));
}

void reduce_block(Fold f, const View& dst, const View& src, const Lanes& lanes, int dst_repeat, int src_block,
                  int src_repeat, Loc loc)
{
    need_vector_core("a block reduction", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (!reducible(src.dtype, loc)) {
        return;
    }
    const uint32_t esize = dtype_bytes(src.dtype), per_block = 32 / esize;
    const Plan plan = resolve(lanes, esize, loc);
    if (plan.repeats == 0) {
        return;
    }
    const Region rs = make_region(src, plan, static_cast<uint16_t>(src_block), static_cast<uint16_t>(src_repeat), loc);
    const uint32_t step = static_cast<uint32_t>(dst_repeat) * 8 * esize;
    if (!check_operand(src, rs, 32, PIPE_V, loc)
        || !check_rows(dst, {UB, dst.addr, plan.repeats, 8 * esize, step}, 8 * esize, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    Lot lot;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        for (uint32_t b = 0; b < 8; ++b) {
            collect(rs, r, b * per_block, (b + 1) * per_block, lot);
            const Item got = reduce_lot(f, src.dtype, lot);
            if (!got.live) {
                continue;  // a block without active lanes keeps its slot
            }
            const uint32_t at = dst.addr + r * step + b * esize;
            touch(Rows{UB, at, 1, esize, 0}, true, id, loc);
            store_value(at, src.dtype, got.value, got.undefined);
        }
    }
    touch(rs, false, id, loc);
    charge(PIPE_V, vector_cycles(plan, rate_of("block", src.dtype)));
}

void reduce_pair(const View& dst, const View& src, const Lanes& lanes, int dst_repeat, int src_block, int src_repeat,
                 Loc loc)
{
    need_vector_core("PairReduceSum", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (!reducible(src.dtype, loc)) {
        return;
    }
    const uint32_t esize = dtype_bytes(src.dtype);
    const Plan plan = resolve(lanes, esize, loc);
    if (plan.repeats == 0) {
        return;
    }
    const Region rs = make_region(src, plan, static_cast<uint16_t>(src_block), static_cast<uint16_t>(src_repeat), loc);
    const uint32_t step = static_cast<uint32_t>(dst_repeat) * 128;
    if (!check_operand(src, rs, 32, PIPE_V, loc)
        || !check_rows(dst, {UB, dst.addr, plan.repeats, 128, step}, 32, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    Lot lot;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        for (uint32_t i = 0; i < plan.lanes / 2; ++i) {
            collect(rs, r, 2 * i, 2 * i + 2, lot);
            const Item got = reduce_lot(Fold::SUM, src.dtype, lot);
            if (got.live) {
                const uint32_t at = dst.addr + r * step + i * esize;
                touch(Rows{UB, at, 1, esize, 0}, true, id, loc);
                store_value(at, src.dtype, got.value, got.undefined);
            }
        }
    }
    touch(rs, false, id, loc);
    charge(PIPE_V, vector_cycles(plan, is_half(src.dtype) ? 128 : 64));
}

namespace {

// Elements of scratch the call may use: a pair a repeat for each round of the index form (api.md section 6).
uint32_t scratch_elements(Fold f, uint32_t repeats, uint32_t esize, bool index, bool count_form)
{
    const uint32_t per_block = 32 / esize, lanes = 256 / esize;
    const auto round = [per_block](uint32_t n) { return (n + per_block - 1) / per_block * per_block; };
    if (f == Fold::SUM) {
        return count_form ? 0 : round(repeats);
    }
    uint32_t total = round(2 * repeats);
    for (uint32_t n = (2 * repeats + lanes - 1) / lanes; index && repeats > 1; n = (2 * n + lanes - 1) / lanes) {
        total += round(2 * n);
        if (n <= 1) {
            break;
        }
    }
    return repeats <= 1 && f != Fold::SUM ? 0 : total;
}

Item reduce_all(Fold f, DType t, const Region& rs)
{
    const Plan& plan = *rs.plan;
    Lot lot;
    Item total;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        collect(rs, r, 0, plan.lanes, lot);
        Item got = reduce_lot(f, t, lot);
        got.index += r * plan.lanes;
        if (!total.live || !got.live) {
            total = total.live ? total : got;
            continue;
        }
        const bool undefined = total.undefined || got.undefined;
        if (f == Fold::SUM) {
            total.value = round_to(t, total.value + got.value);
        } else if (beats(f, got.value, total.value)) {
            total = got;
        }
        total.undefined = undefined;
    }
    return total;
}

// What the call leaves in its scratch space is its own business.
void spoil_scratch(const Rows& scratch)
{
    memset(data_at(UB, scratch.base), 0xff, scratch.bytes);
    if (launch->check) {
        memset(undefined_at(UB, scratch.base), 0xff, scratch.bytes);
    }
}

}  // namespace

void reduce_tensor(Fold f, const View& dst, const View& src, const View& tmp, const Lanes& lanes, int src_repeat,
                   bool index, Loc loc)
{
    need_vector_core("a reduction", loc);
    need_pipe("ReduceSum, ReduceMax or ReduceMin", loc);
    if (!reducible(src.dtype, loc)) {
        return;
    }
    const uint32_t esize = dtype_bytes(src.dtype);
    const bool count_form = lanes.form == Lanes::COUNT;
    // The mask form of the software reduction loops, so its repeat count is not limited to 255.
    Lanes wide = lanes;
    const int32_t wanted = lanes.repeat;
    wide.repeat = std::min(lanes.repeat, 255);
    Plan plan = resolve(wide, esize, loc);
    if (!count_form && plan.repeats != 0 && wanted > 255) {
        plan.repeats = static_cast<uint32_t>(wanted);
    }
    scalar_cost(launch->number("software_reduce_scalar_cycles"));
    if (plan.repeats == 0) {
        return;
    }
    const Region rs = make_region(src, plan, 1, count_form ? Strides::DENSE : static_cast<uint16_t>(src_repeat), loc);
    // With a tail the calls read and write a second element even without an index (api-corrections.md, second
    // reading, 4), and with an index the result is a pair.
    const uint32_t rest = plan.tail_count != plan.lanes && plan.repeats > 1;
    const bool two = f != Fold::SUM && (index || rest);
    const Rows out{UB, dst.addr, 1, esize * (two ? 2 : 1), 0};
    const uint32_t need = scratch_elements(f, plan.repeats, esize, index, count_form) * esize;
    const Rows scratch{UB, tmp.addr, 1, need, 0};
    if (!check_operand(src, rs, 32, PIPE_V, loc)
        || !check_rows(dst, out, f == Fold::SUM ? esize : 2 * esize, PIPE_V, loc)
        || (need != 0 && !check_rows(tmp, scratch, 32, PIPE_V, loc))) {
        return;
    }
    if (index && is_half(src.dtype) && uint64_t(plan.repeats) * plan.lanes > 65536) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "a half cannot hold an index above 65535");
    }
    // Several rounds are synchronised inside: the result is written by an operation of its own.
    const bool rounds = plan.repeats > 1 || f == Fold::SUM;
    OpId id = begin(PIPE_V, loc);
    if (!rounds) {
        touch(out, true, id, loc);
    }
    if (need != 0) {
        touch(scratch, true, id, loc);
    }
    touch(rs, false, id, loc);
    charge(PIPE_V, vector_cycles(plan, rate_of("repeat", src.dtype)));
    const Item total = reduce_all(f, src.dtype, rs);
    if (need != 0) {
        spoil_scratch(scratch);
    }
    if (rounds) {
        drain(PIPE_V);
        id = begin(PIPE_V, loc);
        touch(out, true, id, loc);
        charge(PIPE_V, launch->number("vector_startup_cycles"));
    }
    store_value(dst.addr, src.dtype, total.value, total.undefined);
    if (two) {
        store_index(dst.addr + esize, src.dtype, total.index, total.undefined || !index);
    }
    keep_result(f, total);
}

void read_reduction(bool sum, DType dtype, void* value, void* index, Loc)
{
    scalar_cost(1);
    const float v = sum ? core->acc_value : core->extreme_value;
    const uint16_t bits = half_bits(v);
    const bool narrow = is_half(dtype);
    memcpy(value, narrow ? static_cast<const void*>(&bits) : &v, narrow ? 2 : 4);
    if (index != nullptr) {
        memcpy(index, &core->extreme_index, narrow ? 2 : 4);
    }
}

}  // namespace pyasc_model
