// SPDX-License-Identifier: Apache-2.0
// Brcb, the transposes and the sorting instructions (api.md section 7).
#include <math.h>
#include <string.h>

#include <algorithm>

#include "lanes.h"

namespace pyasc_model {

namespace {

void copy_element(uint32_t to, uint32_t from, uint32_t bytes)
{
    memcpy(data_at(UB, to), data_at(UB, from), bytes);
    if (launch->check) {
        memcpy(undefined_at(UB, to), undefined_at(UB, from), bytes);
    }
}

Plan plan_of(uint32_t repeats, uint32_t lanes)
{
    Plan p;
    p.repeats = repeats;
    p.lanes = lanes;
    return p;
}

}  // namespace

void broadcast_blocks(const View& dst, const View& src, uint8_t repeat, const AscendC::BrcbRepeatParams& p, Loc loc)
{
    need_vector_core("Brcb", loc);
    scalar_cost(launch->number("issue_cycles"));
    const uint32_t esize = dtype_bytes(src.dtype), per_block = 32 / esize;
    if (esize != 2 && esize != 4) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "Brcb takes 16- and 32-bit types");
        return;
    }
    if (repeat == 0) {
        return;
    }
    const Rows from{UB, src.addr, 1, repeat * 8u * esize, 0};
    if (!check_rows(src, from, 32, PIPE_V, loc)) {
        return;
    }
    for (uint32_t r = 0; r < repeat; ++r) {
        if (!check_rows(dst, {UB, dst.addr + r * p.dstRepStride * 32u, 8, 32, p.dstBlkStride * 32u}, 32, PIPE_V, loc)) {
            return;
        }
    }
    const OpId id = begin(PIPE_V, loc);
    touch(from, false, id, loc);
    for (uint32_t i = 0; i < repeat * 8u; ++i) {
        const uint32_t to = dst.addr + (i / 8) * p.dstRepStride * 32u + (i % 8) * p.dstBlkStride * 32u;
        if (to < from.base + from.bytes && to + 32 > from.base) {
            report("overlap", loc, PIPE_V, "UB", to, to + 32, "Brcb overwrites its source");
            return;
        }
        touch(Rows{UB, to, 1, 32, 0}, true, id, loc);
        for (uint32_t k = 0; k < per_block; ++k) {
            copy_element(to + k * esize, src.addr + i * esize, esize);
        }
    }
    charge(PIPE_V, vector_cycles(plan_of(repeat, 256 / esize), esize == 2 ? 128 : 64));
}

void transpose16(const View& dst, const View& src, Loc loc)
{
    need_vector_core("Transpose", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (src.dtype != DType::I16 && src.dtype != DType::U16 && src.dtype != DType::F16) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "Transpose takes int16, uint16 and half");
        return;
    }
    const Rows from{UB, src.addr, 1, 512, 0}, to{UB, dst.addr, 1, 512, 0};
    if (!check_rows(src, from, 32, PIPE_V, loc) || !check_rows(dst, to, 32, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    touch(to, true, id, loc);
    touch(from, false, id, loc);
    uint16_t in[256], undefined[256] = {};
    memcpy(in, data_at(UB, src.addr), 512);
    if (launch->check) {
        memcpy(undefined, undefined_at(UB, src.addr), 512);
    }
    for (uint32_t r = 0; r < 16; ++r) {
        for (uint32_t c = 0; c < 16; ++c) {
            const uint32_t at = dst.addr + (c * 16 + r) * 2;
            memcpy(data_at(UB, at), &in[r * 16 + c], 2);
            if (launch->check) {
                memcpy(undefined_at(UB, at), &undefined[r * 16 + c], 2);
            }
        }
    }
    charge(PIPE_V, vector_cycles(plan_of(2, 128), 128));
}

void transpose_5hd(const View* dst, const View* src, const AscendC::TransDataTo5HDParams& p, Loc loc)
{
    need_vector_core("TransDataTo5HD", loc);
    scalar_cost(launch->number("issue_cycles") * 16);
    const uint32_t esize = dtype_bytes(src[0].dtype);
    if (esize == 8) {
        report("dtype", loc, PIPE_V, nullptr, 0, 0, "TransDataTo5HD takes 8-, 16- and 32-bit types");
        return;
    }
    // 16 rows of 32 bytes. 16-bit: a 16 x 16 square. 32-bit: 16 x 8, whose columns fill pairs of destination rows.
    // 8-bit: the high or low half of 32 columns.
    const uint32_t cols = esize == 4 ? 8 : 16;
    OpId id = 0;
    for (uint32_t r = 0; r < p.repeatTimes; ++r) {
        uint8_t in[16][32], undefined[16][32] = {};
        for (uint32_t i = 0; i < 16; ++i) {
            const Rows from{UB, src[i].addr + r * p.srcRepStride * 32u, 1, 32, 0};
            const Rows to{UB, dst[i].addr + r * p.dstRepStride * 32u, 1, 32, 0};
            if (!check_rows(src[i], from, 32, PIPE_V, loc) || !check_rows(dst[i], to, 32, PIPE_V, loc)) {
                return;
            }
            id = id == 0 ? begin(PIPE_V, loc) : id;
            // 8-bit rows are filled in halves; 32-bit columns fill pairs of rows, all of them.
            const bool half_row = esize == 1;
            touch(Rows{UB, to.base + (half_row && p.dstHighHalf ? 16u : 0u), 1, half_row ? 16u : 32u, 0}, true, id, loc);
        }
        for (uint32_t i = 0; i < 16; ++i) {
            const Rows from{UB, src[i].addr + r * p.srcRepStride * 32u, 1, 32, 0};
            touch(from, false, id, loc);
            memcpy(in[i], data_at(UB, from.base), 32);
            if (launch->check) {
                memcpy(undefined[i], undefined_at(UB, from.base), 32);
            }
        }
        for (uint32_t c = 0; c < cols; ++c) {
            for (uint32_t i = 0; i < 16; ++i) {
                const uint32_t in_byte = (c + (esize == 1 && p.srcHighHalf ? 16 : 0)) * esize;
                const uint32_t row = esize == 4 ? 2 * c + i / 8 : c;
                const uint32_t lane = esize == 4 ? i % 8 : i + (esize == 1 && p.dstHighHalf ? 16 : 0);
                const uint32_t at = dst[row].addr + r * p.dstRepStride * 32u + lane * esize;
                memcpy(data_at(UB, at), in[i] + in_byte, esize);
                if (launch->check) {
                    memcpy(undefined_at(UB, at), undefined[i] + in_byte, esize);
                }
            }
        }
    }
    charge(PIPE_V, vector_cycles(plan_of(p.repeatTimes * 2u, 256 / esize), esize == 1 ? 256 : esize == 2 ? 128 : 64));
}

namespace {

constexpr uint32_t PAIR = 8;  // bytes of a (value, index) record, for halfs too

struct Record {
    float value;
    uint8_t bytes[PAIR], undefined[PAIR];
};

// Descending; nan first (api.md section 7).
bool before(const Record& a, const Record& b)
{
    const bool an = isnan(a.value), bn = isnan(b.value);
    return an != bn ? an : !an && a.value > b.value;
}

float value_at(const uint8_t* p, DType t)
{
    if (t == DType::F16) {
        uint16_t bits;
        memcpy(&bits, p, 2);
        return half_value(bits);
    }
    float v;
    memcpy(&v, p, 4);
    return v;
}

void write_records(uint32_t addr, const std::vector<Record>& records)
{
    for (size_t i = 0; i < records.size(); ++i) {
        memcpy(data_at(UB, addr + static_cast<uint32_t>(i) * PAIR), records[i].bytes, PAIR);
        if (launch->check) {
            memcpy(undefined_at(UB, addr + static_cast<uint32_t>(i) * PAIR), records[i].undefined, PAIR);
        }
    }
}

bool sortable(DType t, Loc loc)
{
    if (t == DType::F16 || t == DType::F32) {
        return true;
    }
    report("dtype", loc, PIPE_V, nullptr, 0, 0, "sorting takes half and float");
    return false;
}

// Which order of equals a comparison of undefined values gives is unknown, so one of them spoils all.
void spoil(std::vector<Record>& records, uint32_t value_bytes)
{
    const bool bad = std::any_of(records.begin(), records.end(), [value_bytes](const Record& r) {
        return std::any_of(r.undefined, r.undefined + value_bytes, [](uint8_t b) { return b != 0; });
    });
    for (Record& r : records) {
        if (bad) {
            memset(r.undefined, 0xff, PAIR);
        }
    }
}

}  // namespace

void sort32(const View& dst, const View& score, const View& index, int32_t repeat, Loc loc)
{
    need_vector_core("Sort32", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (!sortable(score.dtype, loc) || repeat <= 0) {
        return;
    }
    const uint32_t esize = dtype_bytes(score.dtype), n = static_cast<uint32_t>(repeat) * 32;
    const Rows rs{UB, score.addr, 1, n * esize, 0}, ri{UB, index.addr, 1, n * 4, 0}, rd{UB, dst.addr, 1, n * PAIR, 0};
    if (!check_rows(score, rs, 32, PIPE_V, loc) || !check_rows(index, ri, 32, PIPE_V, loc)
        || !check_rows(dst, rd, 32, PIPE_V, loc)) {
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    touch(rd, true, id, loc);
    touch(rs, false, id, loc);
    touch(ri, false, id, loc);
    for (uint32_t r = 0; r < n / 32; ++r) {
        std::vector<Record> records(32);
        for (uint32_t i = 0; i < 32; ++i) {
            Record& rec = records[i];
            const uint32_t s = score.addr + (r * 32 + i) * esize, x = index.addr + (r * 32 + i) * 4;
            rec.value = value_at(data_at(UB, s), score.dtype);
            memset(rec.bytes, 0, PAIR);
            memset(rec.undefined, 0, PAIR);
            memcpy(rec.bytes, data_at(UB, s), esize);
            memcpy(rec.bytes + 4, data_at(UB, x), 4);
            if (launch->check) {
                memcpy(rec.undefined, undefined_at(UB, s), esize);
                memcpy(rec.undefined + 4, undefined_at(UB, x), 4);
            }
        }
        std::stable_sort(records.begin(), records.end(), before);
        spoil(records, esize);
        write_records(dst.addr + r * 32 * PAIR, records);
    }
    charge(PIPE_V, vector_cycles(plan_of(n / 32, 32), 2));
}

void merge_sort(const View& dst, const View* src, const AscendC::MrgSort4Info& info, Loc loc)
{
    need_vector_core("MrgSort", loc);
    scalar_cost(launch->number("issue_cycles"));
    if (!sortable(dst.dtype, loc)) {
        return;
    }
    if (info.validBit != 3 && info.validBit != 7 && info.validBit != 15) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0, "MrgSort: validBit %u is not 3, 7 or 15", info.validBit);
        return;
    }
    if (info.repeatTimes > 1 || info.ifExhaustedSuspension) {
        report("parameter", loc, PIPE_V, nullptr, 0, 0,
               "MrgSort with several repeats or suspension is not in the published facts this model is built from");
        return;
    }
    const OpId id = begin(PIPE_V, loc);
    std::vector<Record> records;
    const uint32_t esize = dtype_bytes(dst.dtype);
    for (int list = 0; list < 4; ++list) {
        const uint32_t n = (info.validBit >> list) & 1 ? info.elementLengths[list] : 0;
        const Rows rs{UB, src[list].addr, 1, n * PAIR, 0};
        core->merge_counts[list] = static_cast<uint16_t>(n);
        if (n == 0 || !check_rows(src[list], rs, 8, PIPE_V, loc)) {
            continue;
        }
        touch(rs, false, id, loc);
        for (uint32_t i = 0; i < n; ++i) {
            Record rec;
            memcpy(rec.bytes, data_at(UB, rs.base + i * PAIR), PAIR);
            memset(rec.undefined, 0, PAIR);
            if (launch->check) {
                memcpy(rec.undefined, undefined_at(UB, rs.base + i * PAIR), PAIR);
            }
            rec.value = value_at(rec.bytes, dst.dtype);
            records.push_back(rec);
        }
    }
    const uint32_t total = static_cast<uint32_t>(records.size());
    const Rows rd{UB, dst.addr, 1, total * PAIR, 0};
    if (total == 0 || !check_rows(dst, rd, 32, PIPE_V, loc)) {
        return;
    }
    touch(rd, true, id, loc);
    std::stable_sort(records.begin(), records.end(), before);
    spoil(records, esize);
    write_records(dst.addr, records);
    charge(PIPE_V, vector_cycles(plan_of((total + 31) / 32, 32), 2));
}

void merge_sort_result(uint16_t counts[4], Loc)
{
    scalar_cost(1);
    memcpy(counts, core->merge_counts, sizeof core->merge_counts);
}

}  // namespace pyasc_model
