// SPDX-License-Identifier: Apache-2.0
// Fixpipe: L0C to global memory or L1, with conversion, relu and layout (api.md section 9 and its corrections).
#include <math.h>
#include <string.h>

#include <algorithm>

#include "gm.h"
#include "half.h"
#include "timing.h"

namespace pyasc_model {

namespace {

bool mode_fits(DType from, DType to, QuantMode_t mode, bool vector)
{
    const bool byte = to == DType::I8 || to == DType::U8;
    if (from == DType::F32) {
        switch (to) {
        case DType::F32: return mode == NoQuant;
        case DType::F16: return mode == F322F16;
        case DType::BF16: return mode == F322BF16;
        default: return byte && mode == (vector ? VQF322B8_PRE : QF322B8_PRE);
        }
    }
    if (from != DType::I32) {
        return false;
    }
    return to == DType::I32 ? mode == NoQuant
         : to == DType::F16 ? mode == (vector ? VDEQF16 : DEQF16)
                            : byte && mode == (vector ? VREQ8 : REQ8);
}

// Quantisation parameters are floats with ten mantissa bits (hardware.md section 4); dropping the rest is `assumed`, and
// so is that the other fields of the 64-bit parameter are zero: their meaning is not in the facts.
float scale_of(uint64_t parameter)
{
    return __builtin_bit_cast(float, static_cast<uint32_t>(parameter) & 0xffffe000u);
}

uint32_t clamp_byte(double v, DType to)
{
    const double low = to == DType::I8 ? -128 : 0, high = to == DType::I8 ? 127 : 255;
    const double r = isnan(v) ? 0 : nearbyint(v);
    return static_cast<uint32_t>(static_cast<int32_t>(r < low ? low : r > high ? high : r));
}

// One element of L0C as it leaves; `scale` is used by the quantising modes only.
uint32_t convert(uint32_t bits, DType from, DType to, bool relu, float scale)
{
    if (from == DType::I32) {
        int32_t v = static_cast<int32_t>(bits);
        v = relu && v < 0 ? 0 : v;
        return to == DType::I32 ? static_cast<uint32_t>(v)
             : to == DType::F16 ? half_bits(static_cast<float>(v) * scale)
                                : clamp_byte(static_cast<double>(static_cast<float>(v) * scale), to);
    }
    float v = __builtin_bit_cast(float, bits);
    v = relu && v < 0 ? 0.0f : v;
    switch (to) {
    case DType::F32: return __builtin_bit_cast(uint32_t, v);
    case DType::F16: return half_bits(v);
    case DType::BF16: return bfloat16_bits(v);
    default: return clamp_byte(static_cast<double>(v * scale), to);
    }
}

struct Job {
    const AscendC::FixpipeParamsV220& p;
    View src;
    DType to;
    const View* scales;
    uint32_t out_bytes;

    uint32_t source(uint32_t m, uint32_t n) const
    {
        return src.addr + (n / 16) * p.srcStride * 64u + m * 64 + (n % 16) * 4;
    }
    float scale(uint32_t n) const
    {
        uint64_t parameter = p.deqScalar;
        if (scales != nullptr) {
            memcpy(&parameter, data_at(FB, scales->addr + n * 8), 8);
        }
        return scale_of(parameter);
    }
    // `n` elements of row `m` from column `n0`, converted, with their undefined bits.
    void row(uint32_t m, uint32_t n0, uint32_t n, uint8_t* data, uint8_t* undefined) const
    {
        if (p.quantPre == NoQuant || p.quantPre == F322F16) {
            plain_row(m, n0, n, data, undefined);
            return;
        }
        const bool scaled = p.quantPre != F322BF16;
        for (uint32_t i = 0; i < n; ++i) {
            uint32_t bits;
            memcpy(&bits, data_at(L0C, source(m, n0 + i)), 4);
            bits = convert(bits, src.dtype, to, p.reluEn, scaled ? scale(n0 + i) : 1.0f);
            memcpy(data + i * out_bytes, &bits, out_bytes);
            flag(undefined, i, source(m, n0 + i));
        }
    }

private:
    void flag(uint8_t* undefined, uint32_t i, uint32_t at) const
    {
        if (undefined != nullptr) {
            const uint8_t* u = undefined_at(L0C, at);
            memset(undefined + i * out_bytes, (u[0] | u[3]) != 0 ? 0xff : 0, out_bytes);
        }
    }
    // The common modes, sixteen columns at a time.
    void plain_row(uint32_t m, uint32_t n0, uint32_t n, uint8_t* data, uint8_t* undefined) const
    {
        for (uint32_t i = 0; i < n; i += 16) {
            const uint32_t count = std::min(16u, n - i), at = source(m, n0 + i);
            alignas(64) uint32_t lanes[16];
            memcpy(lanes, data_at(L0C, at), 64);
            for (uint32_t k = 0; p.reluEn && k < 16; ++k) {
                lanes[k] = convert(lanes[k], src.dtype, src.dtype, true, 1.0f);
            }
            if (p.quantPre == F322F16) {
                uint16_t halves[16];
                float_to_half(reinterpret_cast<const float*>(lanes), halves, 16);
                memcpy(data + i * 2, halves, count * 2);
            } else {
                memcpy(data + i * 4, lanes, count * 4);
            }
            if (undefined != nullptr && out_bytes == 4) {
                memcpy(undefined + i * 4, undefined_at(L0C, at), count * 4);
            } else {
                for (uint32_t k = 0; k < count; ++k) {
                    flag(undefined, i + k, at + k * 4);
                }
            }
        }
    }
};

bool check_parameters(const AscendC::FixpipeParamsV220& p, DType from, DType to, bool vector, bool row_major, Loc loc)
{
    if (p.nSize > 4095 || (row_major && p.mSize > 8192)) {
        report("parameter", loc, PIPE_FIX, nullptr, 0, 0, "Fixpipe: nSize %u (at most 4095), mSize %u (at most 8192)",
               p.nSize, p.mSize);
        return false;
    }
    if (p.nSize == 0 || p.mSize == 0) {
        report("parameter", loc, PIPE_FIX, nullptr, 0, 0, "Fixpipe: nSize and mSize are at least 1");
        return false;
    }
    const uint32_t unit = p.isChannelSplit ? 8 : 16;
    if (!row_major && p.nSize % unit != 0) {
        report("parameter", loc, PIPE_FIX, nullptr, 0, 0, "Fixpipe NZ: nSize %u is not a multiple of %u", p.nSize, unit);
        return false;
    }
    if (!mode_fits(from, to, p.quantPre, vector)) {
        report("parameter", loc, PIPE_FIX, nullptr, 0, 0, "Fixpipe: quantPre %d does not fit the types", p.quantPre);
        return false;
    }
    if (!known_unit_flag(p.unitFlag)) {
        report("parameter", loc, PIPE_FIX, nullptr, 0, 0, "Fixpipe: unitFlag is 0, 2 or 3, not %u", p.unitFlag);
    }
    if (p.ndNum != 1) {
        report("parameter", loc, PIPE_FIX, nullptr, 0, 0,
               "Fixpipe with ndNum %u: the units of its matrix strides are not in the published facts", p.ndNum);
        return false;
    }
    if (p.srcStride * 16u < p.mSize * 16u && p.nSize > 16) {
        report("parameter", loc, PIPE_FIX, "L0C", 0, 0, "Fixpipe: srcStride %u is below mSize %u", p.srcStride, p.mSize);
    }
    return true;
}

// Where the results go: global memory or L1.
struct Target {
    const GmView* gm;
    const View* l1;
    DType type;
    uint32_t bytes;  // of an element

    // `rows` rows of `count` elements, `step` bytes apart, from `start` bytes on. False when they do not fit.
    template <typename Row>
    bool write(uint64_t start, uint32_t rows, uint32_t count, uint64_t step, OpId id, Loc loc, const Row& row) const
    {
        std::vector<uint8_t> data(count * 4 + 64), undefined(count * 4 + 64);
        const uint64_t length = uint64_t(count) * bytes;
        GmBuffer* b = gm ? find_gm(*gm, gm->ptr + start, (rows - 1) * step + length, PIPE_FIX, loc) : nullptr;
        const uint64_t base = b ? static_cast<uint64_t>(gm->ptr + start - b->base) : l1 ? l1->addr + start : 0;
        if (gm ? b == nullptr : !open_l1(base, rows, length, step, id, loc)) {
            return false;
        }
        if (b != nullptr) {
            const bool plain = core->atomic == Atomic::NONE;
            touch_gm(*b, {base, rows, length, step}, plain ? GmRecord::WRITE : GmRecord::ATOMIC, id, false, loc);
        }
        for (uint32_t m = 0; m < rows; ++m) {
            uint8_t* flags = launch->check ? undefined.data() : nullptr;
            row(m, data.data(), flags);
            const uint64_t at = base + m * step;
            if (b != nullptr) {
                store_gm_row(*b, at, data.data(), flags, length, type, PIPE_FIX, loc);
                continue;
            }
            memcpy(data_at(L1, static_cast<uint32_t>(at)), data.data(), length);
            if (flags != nullptr) {
                memcpy(undefined_at(L1, static_cast<uint32_t>(at)), flags, length);
            }
        }
        return true;
    }

private:
    bool open_l1(uint64_t base, uint32_t rows, uint64_t length, uint64_t step, OpId id, Loc loc) const
    {
        const Rows out{L1, static_cast<uint32_t>(base), rows, static_cast<uint32_t>(length), static_cast<uint32_t>(step)};
        if (!check_rows(*l1, out, 32, PIPE_FIX, loc)) {
            return false;
        }
        touch(out, true, id, loc);
        return true;
    }
};

// With unitFlag the M and FIX pipes hand the accumulator over by hardware, without a flag of the kernel.
void follow_units(int later, int earlier)
{
    core->clock[later].seen[earlier] = core->last[earlier];
    core->clock[later].time = std::max(core->clock[later].time, core->busy_until[earlier]);
}

}  // namespace

void fixpipe(const GmView* gm, const View* l1, const View& src, const View* scales,
             const AscendC::FixpipeParamsV220& p, bool row_major, Loc loc)
{
    need_cube_core("Fixpipe", loc);
    scalar_cost(launch->number("issue_cycles"));
    const DType to = gm ? gm->dtype : l1->dtype;
    if (!check_parameters(p, src.dtype, to, scales != nullptr, row_major, loc)) {
        return;
    }
    if (space_of(src.position, loc) != L0C || (scales && space_of(scales->position, loc) != FB)) {
        report("parameter", loc, PIPE_FIX, nullptr, 0, 0, "Fixpipe: source in L0C, scales in the Fixpipe buffer");
        return;
    }
    const Job job{p, src, to, scales, dtype_bytes(to)};
    const Rows from{L0C, src.addr, (p.nSize + 15u) / 16, p.mSize * 64u, p.srcStride * 64u};
    const Rows parameters{FB, scales ? scales->addr : 0, 1, p.nSize * 8u, 0};
    if (!check_rows(src, from, 64, PIPE_FIX, loc) || (scales && !check_rows(*scales, parameters, 64, PIPE_FIX, loc))) {
        return;
    }
    if (p.unitFlag != 0) {
        follow_units(PIPE_FIX, PIPE_M);
    }
    const OpId id = begin(PIPE_FIX, loc);
    touch(from, false, id, loc);
    if (scales) {
        touch(parameters, false, id, loc);
    }
    // Row major: one run of columns. NZ: groups of 32 bytes (64 for 32-bit results that are not split) by rows.
    const uint32_t group = row_major ? p.nSize : job.out_bytes == 4 && !p.isChannelSplit ? 16 : 32 / job.out_bytes;
    const uint64_t step = uint64_t(row_major ? p.dstStride : group) * job.out_bytes;
    const Target target{gm, l1, to, job.out_bytes};
    for (uint32_t n0 = 0; n0 < p.nSize; n0 += group) {
        const uint32_t n = std::min<uint32_t>(group, p.nSize - n0);
        const uint64_t start = row_major ? 0 : uint64_t(n0 / group) * p.dstStride * 32;
        const auto row = [&](uint32_t m, uint8_t* data, uint8_t* undefined) { job.row(m, n0, n, data, undefined); };
        if (!target.write(start, p.mSize, n, step, id, loc, row)) {
            return;
        }
    }
    charge(PIPE_FIX, fixpipe_cycles(uint64_t(p.nSize) * p.mSize, job.out_bytes, gm != nullptr));
    if (p.unitFlag != 0) {
        follow_units(PIPE_M, PIPE_FIX);
    }
}

}  // namespace pyasc_model
