// SPDX-License-Identifier: Apache-2.0
// Copies between global memory and on-chip memories, and between on-chip memories (api.md section 2).
#include <string.h>

#include <algorithm>

#include "batch.h"
#include "gm.h"
#include "timing.h"

namespace pyasc_model {

namespace {

uint32_t round32(uint32_t n) { return (n + 31) / 32 * 32; }

struct Route {
    int pipe;
    Space local;
};

Route route_in(const View& dst, const char* call, Loc loc)
{
    const Space s = space_of(dst.position, loc);
    if (core->cube != (s != UB)) {
        report("core-type", loc, PIPE_MTE2, SPACE_NAMES[s], 0, 0, "%s to %s on a core without it", call,
               SPACE_NAMES[s]);
        throw StopCore();
    }
    if (s != UB && s != L1) {
        report("parameter", loc, PIPE_MTE2, SPACE_NAMES[s], 0, 0, "%s has no route from GM to %s", call,
               SPACE_NAMES[s]);
        throw StopCore();
    }
    return {PIPE_MTE2, s};
}

Route route_out(const View& src, const char* call, Loc loc)
{
    const Space s = space_of(src.position, loc);
    if (s != UB && s != L1) {
        report("parameter", loc, PIPE_MTE3, SPACE_NAMES[s], 0, 0, "%s has no route from %s to GM", call,
               SPACE_NAMES[s]);
        throw StopCore();
    }
    return {PIPE_MTE3, s};
}

bool in_range(const char* what, uint64_t value, uint64_t limit, int pipe, Loc loc)
{
    if (value <= limit) {
        return true;
    }
    report("parameter", loc, pipe, nullptr, 0, 0, "%s is %llu, at most %llu", what,
           static_cast<unsigned long long>(value), static_cast<unsigned long long>(limit));
    return false;
}

GmBuffer* gm_extent(const GmView& t, const GmRows& rows, int pipe, Loc loc)
{
    const uint64_t bytes = rows.rows == 0 ? 0 : (rows.rows - 1) * rows.step + rows.bytes;
    if (reinterpret_cast<uint64_t>(t.ptr) % dtype_bytes(t.dtype) != 0) {
        report("alignment", loc, pipe, "GM", 0, 0, "the address in global memory is not a multiple of the element size");
    }
    return find_gm(t, t.ptr, bytes, pipe, loc);
}

// A copy of one row, or of rows without gaps, may wait for what comes after it.
bool put_off_copy(Step::Kind kind, const Rows& local, DType type, uint8_t* gm, const GmRows& rows, bool streamed)
{
    const bool packed = rows.rows == 1 || (local.step == rows.bytes && rows.step == rows.bytes);
    const uint64_t bytes = rows.rows * rows.bytes, esize = dtype_bytes(type);
    if (!deferring() || !packed || bytes % esize != 0) {
        return false;
    }
    const uint32_t bits = static_cast<uint32_t>(esize) * 8;
    const Span chip{quiet_memory(local.space).data.data() + local.base, bits}, global{gm, bits};
    Step& s = new_step();
    s.kind = kind;
    s.lanes = bytes / esize;
    s.out = kind == Step::LOAD ? chip : global;
    s.in[0] = kind == Step::LOAD ? global : chip;
    s.sources = 1;
    s.variant = kind == Step::LOAD ? 0 : streamed ? 2 : 1;
    s.run = [](const Step& step, uint64_t lane, uint64_t n) {
        constexpr void (*COPIES[])(uint8_t*, const uint8_t*, uint64_t) = {copy_near, copy_far, copy_streamed};
        COPIES[step.variant](step.out.part(lane), step.in[0].part(lane), n * step.out.bits / 8);
    };
    return put_off(s);
}

// Rows of global memory into rows on chip: `lead` bytes in front and the rest behind are for the caller to fill.
void move_in(const View& dst, const Rows& local, uint32_t lead, const GmView& src, GmRows rows, int pipe, Loc loc)
{
    GmBuffer* b = gm_extent(src, rows, pipe, loc);
    if (b == nullptr || !check_rows(dst, local, 32, pipe, loc)) {
        return;
    }
    rows.base = static_cast<uint64_t>(src.ptr - b->base);
    const OpId id = begin_deferrable(pipe, loc);
    if (lead == 0 && put_off_copy(Step::LOAD, local, dst.dtype, src.ptr, rows, false)) {
        charge(pipe, copy_in_cycles(rows.bytes * rows.rows, rows.rows, src.bypass_l2));
        return;
    }
    settle();
    touch_gm(*b, rows, GmRecord::READ, id, false, loc);
    check_dirty_lines(*b, rows, pipe, loc);
    touch(local, true, id, loc);
    for (uint32_t i = 0; i < rows.rows; ++i) {
        const uint32_t at = local.base + i * local.step;
        uint8_t* undefined = undefined_at(local.space, at);
        if (undefined != nullptr && local.bytes != rows.bytes) {
            memset(undefined, 0xff, local.bytes);
        }
        load_gm_row(*b, rows.base + i * rows.step, data_at(local.space, at + lead),
                    undefined == nullptr ? nullptr : undefined + lead, rows.bytes);
    }
    charge(pipe, copy_in_cycles(rows.bytes * rows.rows, rows.rows, src.bypass_l2));
}

void move_out(const GmView& dst, GmRows rows, const View& src, const Rows& local, Loc loc)
{
    const int pipe = route_out(src, "DataCopy", loc).pipe;
    GmBuffer* b = gm_extent(dst, rows, pipe, loc);
    if (b == nullptr || !check_rows(src, local, 32, pipe, loc)) {
        return;
    }
    rows.base = static_cast<uint64_t>(dst.ptr - b->base);
    const OpId id = begin_deferrable(pipe, loc);
    if (b->writable && core->atomic == Atomic::NONE
        && put_off_copy(Step::STORE, local, src.dtype, dst.ptr, rows, b->streamed())) {
        charge(pipe, copy_out_cycles(rows.bytes * rows.rows, rows.rows));
        return;
    }
    settle();
    touch(local, false, id, loc);
    touch_gm(*b, rows, core->atomic == Atomic::NONE ? GmRecord::WRITE : GmRecord::ATOMIC, id, false, loc);
    for (uint32_t i = 0; i < rows.rows; ++i) {
        const uint32_t at = local.base + i * local.step;
        store_gm_row(*b, rows.base + i * rows.step, data_at(local.space, at), undefined_at(local.space, at),
                     rows.bytes, src.dtype, pipe, loc);
    }
    charge(pipe, copy_out_cycles(rows.bytes * rows.rows, rows.rows));
}

}  // namespace

void copy_in(const View& dst, const GmView& src, const AscendC::DataCopyParams& p, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    const Route route = route_in(dst, "DataCopy", loc);
    if (!in_range("blockCount", p.blockCount, 4095, route.pipe, loc) || p.blockCount == 0 || p.blockLen == 0) {
        return;
    }
    const uint32_t len = p.blockLen * 32u;
    move_in(dst, {route.local, dst.addr, p.blockCount, len, len + p.dstStride * 32u}, 0, src,
            {0, p.blockCount, len, uint64_t(len) + p.srcStride * 32u}, route.pipe, loc);
}

void copy_out(const GmView& dst, const View& src, const AscendC::DataCopyParams& p, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    if (!in_range("blockCount", p.blockCount, 4095, PIPE_MTE3, loc) || p.blockCount == 0 || p.blockLen == 0) {
        return;
    }
    const uint32_t len = p.blockLen * 32u;
    move_out(dst, {0, p.blockCount, len, uint64_t(len) + p.dstStride * 32u}, src,
             {route_out(src, "DataCopy", loc).local, src.addr, p.blockCount, len, len + p.srcStride * 32u}, loc);
}

namespace {

// DataCopy by count moves whole 32-byte blocks; the rest is silently left out, which no caller wants.
uint32_t whole_blocks(uint32_t bytes, int pipe, Loc loc)
{
    if (bytes % 32 != 0) {
        report("parameter", loc, pipe, nullptr, 0, 0,
               "DataCopy of %u bytes moves only %u (whole 32-byte blocks): use DataCopyPad", bytes, bytes / 32 * 32);
    }
    return bytes / 32 * 32;
}

}  // namespace

void copy_in_count(const View& dst, const GmView& src, uint32_t bytes, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    const Route route = route_in(dst, "DataCopy", loc);
    const uint32_t len = whole_blocks(bytes, route.pipe, loc);
    if (len != 0) {
        move_in(dst, {route.local, dst.addr, 1, len, len}, 0, src, {0, 1, len, len}, route.pipe, loc);
    }
}

void copy_out_count(const GmView& dst, const View& src, uint32_t bytes, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    const uint32_t len = whole_blocks(bytes, PIPE_MTE3, loc);
    if (len != 0) {
        move_out(dst, {0, 1, len, len}, src, {route_out(src, "DataCopy", loc).local, src.addr, 1, len, len}, loc);
    }
}

namespace {

void write_pads(const View& dst, const Rows& local, uint32_t lead, uint32_t body, uint32_t trail, uint64_t value,
                bool defined)
{
    const uint32_t esize = dtype_bytes(dst.dtype);
    for (uint32_t i = 0; i < local.rows; ++i) {
        const uint32_t at = local.base + i * local.step;
        for (uint32_t k = 0; k < lead + trail; k += esize) {
            const uint32_t to = at + (k < lead ? k : body + k);
            memcpy(data_at(local.space, to), &value, esize);
            if (launch->check) {
                memset(undefined_at(local.space, to), defined ? 0 : 0xff, esize);
            }
        }
    }
}

// Lengths and strides of DataCopyPad are in bytes. Assumed: a row that begins or ends inside an element is a mistake.
void check_whole_elements(const AscendC::DataCopyExtParams& p, uint32_t gm_stride, uint32_t esize, int pipe, Loc loc)
{
    const bool apart = p.blockCount > 1 && (uint64_t(p.blockLen) + gm_stride) % esize != 0;
    if (launch->check && (p.blockLen % esize != 0 || apart)) {
        report("parameter", loc, pipe, nullptr, 0, 0,
               "rows of %u bytes, %llu bytes from one to the next, hold parts of elements of %u bytes", p.blockLen,
               static_cast<unsigned long long>(uint64_t(p.blockLen) + gm_stride), esize);
    }
}

}  // namespace

void copy_pad_in(const View& dst, const GmView& src, const AscendC::DataCopyExtParams& p, const Padding& pad, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    const Route route = route_in(dst, "DataCopyPad", loc);
    const uint32_t esize = dtype_bytes(dst.dtype);
    const uint32_t left = pad.left * esize, right = pad.right * esize;
    if (launch->number("has_data_copy_pad") == 0) {
        report("dtype", loc, route.pipe, nullptr, 0, 0, "this SoC has no DataCopyPad");
        return;
    }
    if (route.local != UB) {
        report("parameter", loc, route.pipe, "L1", 0, 0, "DataCopyPad goes from GM to UB only");
        return;
    }
    bool ok = in_range("blockCount", p.blockCount, 4095, route.pipe, loc);
    ok = in_range("blockLen", p.blockLen, 2097151, route.pipe, loc) && ok;
    ok = in_range("bytes of left padding", left, 32, route.pipe, loc) && ok;
    ok = in_range("bytes of right padding", right, 32, route.pipe, loc) && ok;
    if (esize == 8 && pad.enabled && pad.value != 0) {
        report("parameter", loc, route.pipe, nullptr, 0, 0, "the padding value of 64-bit types must be 0");
    }
    if (!ok || p.blockCount == 0 || p.blockLen == 0) {
        return;
    }
    check_whole_elements(p, p.srcStride, esize, route.pipe, loc);
    const uint32_t row = round32(left + p.blockLen + right);
    const Rows local{UB, dst.addr, p.blockCount, row, row + p.dstStride * 32};
    move_in(dst, local, left, src, {0, p.blockCount, p.blockLen, uint64_t(p.blockLen) + p.srcStride}, route.pipe, loc);
    if (left + right != 0) {
        write_pads(dst, local, left, p.blockLen, right, pad.enabled ? pad.value : core->pad_value,
                   pad.enabled || core->pad_set);
    }
}

void copy_pad_out(const GmView& dst, const View& src, const AscendC::DataCopyExtParams& p, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    if (launch->number("has_data_copy_pad") == 0) {
        report("dtype", loc, PIPE_MTE3, nullptr, 0, 0, "this SoC has no DataCopyPad");
        return;
    }
    if (route_out(src, "DataCopyPad", loc).local != UB) {
        report("parameter", loc, PIPE_MTE3, "L1", 0, 0, "DataCopyPad goes from UB to GM only");
        return;
    }
    bool ok = in_range("blockCount", p.blockCount, 4095, PIPE_MTE3, loc);
    ok = in_range("blockLen", p.blockLen, 2097151, PIPE_MTE3, loc) && ok;
    if (!ok || p.blockCount == 0 || p.blockLen == 0) {
        return;
    }
    check_whole_elements(p, p.dstStride, dtype_bytes(src.dtype), PIPE_MTE3, loc);
    move_out(dst, {0, p.blockCount, p.blockLen, uint64_t(p.blockLen) + p.dstStride}, src,
             {UB, src.addr, p.blockCount, p.blockLen, round32(p.blockLen) + p.srcStride * 32}, loc);
}

void copy_nd2nz(const View& dst, const GmView& src, const AscendC::Nd2NzParams& p, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    const int pipe = PIPE_MTE2;
    const Route route = route_in(dst, "DataCopy ND2NZ", loc);
    const uint32_t esize = dtype_bytes(dst.dtype);
    if (route.local != L1 || esize == 8) {
        report(esize == 8 ? "dtype" : "parameter", loc, pipe, SPACE_NAMES[route.local], 0, 0,
               "the ND2NZ copy goes from GM to L1, with elements of at most 32 bits");
        return;
    }
    bool ok = in_range("ndNum", p.ndNum, 4095, pipe, loc) && in_range("nValue", p.nValue, 16384, pipe, loc);
    ok = in_range("dstNzC0Stride", p.dstNzC0Stride, 16384, pipe, loc) && ok;
    ok = in_range("dstNzNStride", p.dstNzNStride, 16384, pipe, loc) && ok;
    if (ok && (p.dstNzC0Stride == 0 || p.dstNzNStride == 0)) {
        report("parameter", loc, pipe, nullptr, 0, 0, "dstNzC0Stride and dstNzNStride are 1 to 16384");
        ok = false;
    }
    if (!ok || p.ndNum == 0 || p.nValue == 0 || p.dValue == 0) {
        return;
    }
    const uint32_t c0 = 32 / esize, groups = (p.dValue + c0 - 1) / c0;
    OpId id = 0;
    for (uint32_t nd = 0; nd < p.ndNum; ++nd) {
        GmView from = src;
        from.ptr += uint64_t(nd) * p.srcNdMatrixStride * esize;
        GmRows rows{0, p.nValue, uint64_t(p.dValue) * esize, uint64_t(p.srcDValue) * esize};
        GmBuffer* b = gm_extent(from, rows, pipe, loc);
        if (b == nullptr) {
            return;
        }
        rows.base = static_cast<uint64_t>(from.ptr - b->base);
        id = id == 0 ? begin(pipe, loc) : id;
        touch_gm(*b, rows, GmRecord::READ, id, false, loc);
        check_dirty_lines(*b, rows, pipe, loc);
        const uint32_t matrix = dst.addr + nd * p.dstNzMatrixStride * esize;
        for (uint32_t g = 0; g < groups; ++g) {
            const Rows local{L1, matrix + g * p.dstNzC0Stride * 32u, p.nValue, 32, p.dstNzNStride * 32u};
            if (!check_rows(dst, local, 32, pipe, loc)) {
                return;
            }
            touch(local, true, id, loc);
            const uint32_t used = std::min(c0, p.dValue - g * c0) * esize;
            for (uint32_t r = 0; r < p.nValue; ++r) {
                const uint32_t at = local.base + r * local.step;
                uint8_t* undefined = undefined_at(L1, at);
                load_gm_row(*b, rows.base + r * rows.step + g * 32u, data_at(L1, at), undefined, used);
                memset(data_at(L1, at) + used, 0, 32 - used);
                if (undefined != nullptr) {
                    memset(undefined + used, 0, 32 - used);
                }
            }
        }
    }
    charge(pipe, copy_in_cycles(uint64_t(p.ndNum) * p.nValue * p.dValue * esize, uint64_t(p.ndNum) * p.nValue,
                                src.bypass_l2));
}

namespace {

void move_local(const View& dst, const View& src, Rows to, Rows from, int pipe, uint32_t align, Loc loc)
{
    if (!check_rows(dst, to, align, pipe, loc) || !check_rows(src, from, 32, pipe, loc)) {
        return;
    }
    const OpId id = begin(pipe, loc);
    touch(to, true, id, loc);
    touch(from, false, id, loc);
    for (uint32_t i = 0; i < to.rows; ++i) {
        const uint32_t d = to.base + i * to.step, s = from.base + i * from.step;
        memmove(data_at(to.space, d), data_at(from.space, s), to.bytes);
        if (launch->check) {
            memmove(undefined_at(to.space, d), undefined_at(from.space, s), to.bytes);
        }
    }
}

}  // namespace

void copy_local(const View& dst, const View& src, const AscendC::DataCopyParams& p, Loc loc)
{
    scalar_cost(launch->number("issue_cycles"));
    const Space to = space_of(dst.position, loc), from = space_of(src.position, loc);
    if (p.blockCount == 0 || p.blockLen == 0) {
        return;
    }
    if (to == UB && from == UB) {
        const uint32_t len = p.blockLen * 32u;
        move_local(dst, src, {UB, dst.addr, p.blockCount, len, len + p.dstStride * 32u},
                   {UB, src.addr, p.blockCount, len, len + p.srcStride * 32u}, PIPE_V, 32, loc);
        charge(PIPE_V, launch->number("vector_startup_cycles") + double(len) * p.blockCount / 256);
        return;
    }
    if (from == L1 && to == BT) {
        const uint32_t len = p.blockLen * 64u;
        move_local(dst, src, {BT, dst.addr, p.blockCount, len, len + p.dstStride * 64u},
                   {L1, src.addr, p.blockCount, len, len + p.srcStride * 32u}, PIPE_MTE1, 64, loc);
        charge(PIPE_MTE1, launch->number("l1_to_bt_latency_cycles")
                              + double(len) * p.blockCount / launch->number("l1_to_bt_bytes_per_cycle"));
        return;
    }
    if (from == L1 && to == FB) {
        const uint32_t len = p.blockLen * 128u;
        move_local(dst, src, {FB, dst.addr, p.blockCount, len, len + p.dstStride * 128u},
                   {L1, src.addr, p.blockCount, len, len + p.srcStride * 32u}, PIPE_FIX, 64, loc);
        charge(PIPE_FIX, launch->number("l1_to_bt_latency_cycles")
                             + double(len) * p.blockCount / launch->number("l1_to_bt_bytes_per_cycle"));
        return;
    }
    report("parameter", loc, PIPE_S, nullptr, 0, 0, "DataCopy: this SoC has no path from %s to %s", SPACE_NAMES[from],
           SPACE_NAMES[to]);
}

void copy_local_count(const View& dst, const View& src, uint32_t count, Loc loc)
{
    const Space to = space_of(dst.position, loc);
    const uint32_t unit = to == BT ? 64 : to == FB ? 128 : 32;
    const uint32_t bytes = count * dtype_bytes(src.dtype);
    if (bytes % unit != 0) {
        report("parameter", loc, PIPE_S, SPACE_NAMES[to], 0, 0, "DataCopy of %u bytes moves only whole units of %u",
               bytes, unit);
    }
    copy_local(dst, src, {1, static_cast<uint16_t>(bytes / unit), 0, 0}, loc);
}

}  // namespace pyasc_model
