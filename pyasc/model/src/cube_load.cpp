// SPDX-License-Identifier: Apache-2.0
// L1 to L0A and L0B, and constant fills (api.md section 9). A fractal is 512 bytes: 16 rows of 32.
#include <string.h>

#include <algorithm>

#include "gm.h"
#include "timing.h"

namespace pyasc_model {

namespace {

constexpr uint32_t FRACTAL = 512;

struct Element {
    uint8_t* data;
    uint8_t* undefined;
};

Element at(Space s, uint32_t addr) { return {data_at(s, addr), undefined_at(s, addr)}; }

void copy_bytes(const Element& to, const Element& from, uint32_t bytes)
{
    memcpy(to.data, from.data, bytes);
    if (to.undefined != nullptr) {
        memcpy(to.undefined, from.undefined, bytes);
    }
}

// 16 x 16 elements of 2 bytes.
void transpose_fractal(const Element& to, const Element& from)
{
    for (uint32_t r = 0; r < 16; ++r) {
        for (uint32_t c = 0; c < 16; ++c) {
            const uint32_t d = (c * 16 + r) * 2, s = (r * 16 + c) * 2;
            memcpy(to.data + d, from.data + s, 2);
            if (to.undefined != nullptr) {
                memcpy(to.undefined + d, from.undefined + s, 2);
            }
        }
    }
}

bool l0_target(const View& dst, Space& out, const char* call, Loc loc)
{
    need_cube_core(call, loc);
    scalar_cost(launch->number("issue_cycles"));
    out = space_of(dst.position, loc);
    if (out == L0A || out == L0B) {
        return true;
    }
    report("parameter", loc, PIPE_MTE1, SPACE_NAMES[out], 0, 0, "%s goes to L0A or L0B", call);
    return false;
}

bool plain_mode(uint8_t mode, int pipe, Loc loc)
{
    if (mode != 0) {
        report("parameter", loc, pipe, nullptr, 0, 0, "addrMode %u is not in the published facts of this model", mode);
    }
    return mode == 0;
}

void charge_load(Space to, double bytes)
{
    const double rate = launch->number(to == L0A ? "l1_to_l0a_bytes_per_cycle" : "l1_to_l0b_bytes_per_cycle");
    charge(PIPE_MTE1, launch->number("load_latency_cycles") + bytes / rate);
}

}  // namespace

void load_2d(const View& dst, const View& src, const AscendC::LoadData2DParams& p, Loc loc)
{
    Space to;
    if (!l0_target(dst, to, "LoadData", loc) || !plain_mode(p.addrMode, PIPE_MTE1, loc) || p.repeatTimes == 0) {
        return;
    }
    if (space_of(src.position, loc) != L1) {
        report("parameter", loc, PIPE_MTE1, nullptr, 0, 0, "LoadData to L0 comes from L1");
        return;
    }
    if (p.ifTranspose && dtype_bytes(src.dtype) != 2) {
        report("dtype", loc, PIPE_MTE1, nullptr, 0, 0, "LoadData transposes 16-bit types only");
        return;
    }
    const Rows from{L1, src.addr + p.startIndex * FRACTAL, p.repeatTimes, FRACTAL, p.srcStride * FRACTAL};
    const Rows out{to, dst.addr, p.repeatTimes, FRACTAL, (p.dstGap + 1u) * FRACTAL};
    if (!check_rows(src, from, 32, PIPE_MTE1, loc) || !check_rows(dst, out, FRACTAL, PIPE_MTE1, loc)) {
        return;
    }
    const OpId id = begin(PIPE_MTE1, loc);
    touch(from, false, id, loc);
    touch(out, true, id, loc);
    for (uint32_t i = 0; i < p.repeatTimes; ++i) {
        const Element d = at(to, out.base + i * out.step), s = at(L1, from.base + i * from.step);
        if (p.ifTranspose) {
            transpose_fractal(d, s);
        } else {
            copy_bytes(d, s, FRACTAL);
        }
    }
    charge_load(to, p.repeatTimes * double(FRACTAL));
}

void load_2d_gm(const View& dst, const GmView& src, const AscendC::LoadData2DParams& p, Loc loc)
{
    need_cube_core("LoadData", loc);
    scalar_cost(launch->number("issue_cycles"));
    const Space to = space_of(dst.position, loc);
    if (!plain_mode(p.addrMode, PIPE_MTE2, loc) || p.repeatTimes == 0) {
        return;
    }
    if (p.ifTranspose || to == L0C || to == UB) {
        report("parameter", loc, PIPE_MTE2, SPACE_NAMES[to], 0, 0,
               "LoadData from GM goes to L1, L0A or L0B and does not transpose");
        return;
    }
    const GmRows rows{uint64_t(p.startIndex) * FRACTAL, p.repeatTimes, FRACTAL, uint64_t(p.srcStride) * FRACTAL};
    GmBuffer* b = find_gm(src, src.ptr + rows.base, (rows.rows - 1) * rows.step + FRACTAL, PIPE_MTE2, loc);
    const Rows out{to, dst.addr, p.repeatTimes, FRACTAL, (p.dstGap + 1u) * FRACTAL};
    if (b == nullptr || !check_rows(dst, out, to == L1 ? 32 : FRACTAL, PIPE_MTE2, loc)) {
        return;
    }
    GmRows in = rows;
    in.base += static_cast<uint64_t>(src.ptr - b->base);
    const OpId id = begin(PIPE_MTE2, loc);
    touch_gm(*b, in, GmRecord::READ, id, false, loc);
    touch(out, true, id, loc);
    for (uint32_t i = 0; i < in.rows; ++i) {
        const Element d = at(to, out.base + i * out.step);
        load_gm_row(*b, in.base + i * in.step, d.data, d.undefined, FRACTAL);
    }
    charge(PIPE_MTE2, copy_in_cycles(uint64_t(in.rows) * FRACTAL, in.rows, src.bypass_l2));
}

void load_transpose(const View& dst, const View& src, const AscendC::LoadData2dTransposeParams& p, Loc loc)
{
    Space to;
    if (!l0_target(dst, to, "LoadDataWithTranspose", loc) || !plain_mode(p.addrMode, PIPE_MTE1, loc)
        || p.repeatTimes == 0) {
        return;
    }
    const uint32_t esize = dtype_bytes(src.dtype);
    if (esize == 8) {
        report("dtype", loc, PIPE_MTE1, nullptr, 0, 0, "LoadDataWithTranspose takes 8-, 16- and 32-bit types");
        return;
    }
    // A square: one fractal of 16-bit elements, two of others (float: 16 x 16 in two column halves, 8-bit: 32 x 32 in
    // two row halves).
    const uint32_t fractals = esize == 2 ? 1 : 2, square = fractals * FRACTAL;
    const Rows from{L1, src.addr + p.startIndex * square, p.repeatTimes, square, p.srcStride * square};
    if (!check_rows(src, from, 32, PIPE_MTE1, loc)) {
        return;
    }
    const OpId id = begin(PIPE_MTE1, loc);
    touch(from, false, id, loc);
    const uint32_t side = esize == 1 ? 32 : 16, c0 = 32 / esize;
    for (uint32_t i = 0; i < p.repeatTimes; ++i) {
        const uint32_t first = dst.addr + i * (p.dstGap + 1u) * FRACTAL;
        for (uint32_t f = 0; f < fractals; ++f) {
            const Rows out{to, first + f * (p.dstFracGap + 1u) * FRACTAL, 1, FRACTAL, 0};
            if (!check_rows(dst, out, FRACTAL, PIPE_MTE1, loc)) {
                return;
            }
            touch(out, true, id, loc);
        }
        for (uint32_t r = 0; r < side; ++r) {
            for (uint32_t c = 0; c < side; ++c) {
                // Element (r, c) of the square as stored, (c, r) of its transpose.
                const uint32_t s = esize == 4 ? (c / c0) * FRACTAL + (r * c0 + c % c0) * esize : (r * c0 + c) * esize;
                const uint32_t half_index = esize == 4 ? r / c0 : c / 16;
                const uint32_t inside = esize == 4 ? c * c0 + r % c0 : (c % 16) * c0 + r;
                const uint32_t d = first + half_index * (p.dstFracGap + 1u) * FRACTAL + inside * esize;
                copy_bytes(at(to, d), at(L1, from.base + i * from.step + s), esize);
            }
        }
    }
    charge_load(to, p.repeatTimes * double(square));
}

namespace {

// One element of the im2col matrix: row m is an output position, column k a (channel group, filter row, column, lane).
bool image_offset(const AscendC::LoadData3DParamsV2<int32_t>& p, uint32_t m, uint32_t k, uint32_t esize, uint32_t* out)
{
    const uint32_t c0 = 32 / esize;
    const uint32_t lane = k % c0, tap = k / c0;
    const uint32_t kw = tap % p.filterW, kh = tap / p.filterW % p.filterH, c1 = tap / p.filterW / p.filterH;
    const int wide = p.l1W + p.padList[0] + p.padList[1] - ((p.filterW - 1) * p.dilationFilterW + 1);
    const uint32_t out_w = static_cast<uint32_t>(std::max(0, wide / p.strideW + 1));
    if (out_w == 0) {
        return false;
    }
    const int y = static_cast<int>(m / out_w * p.strideH + kh * p.dilationFilterH) - p.padList[2];
    const int x = static_cast<int>(m % out_w * p.strideW + kw * p.dilationFilterW) - p.padList[0];
    if (y < 0 || x < 0 || y >= p.l1H || x >= p.l1W) {
        return false;
    }
    *out = ((c1 * p.l1H + static_cast<uint32_t>(y)) * p.l1W + static_cast<uint32_t>(x)) * 32 + lane * esize;
    return true;
}

}  // namespace

void load_3d(const View& dst, const View& src, const AscendC::LoadData3DParamsV2<int32_t>& p, uint32_t pad_bits,
             Loc loc)
{
    Space to;
    if (!l0_target(dst, to, "LoadData 3D", loc) || p.mExtension == 0 || p.kExtension == 0) {
        return;
    }
    const uint32_t esize = dtype_bytes(src.dtype), c0 = 32 / esize;
    if (p.enTranspose || p.enSmallK || p.fMatrixCtrl || p.filterSizeW || p.filterSizeH) {
        report("parameter", loc, PIPE_MTE1, nullptr, 0, 0,
               "this form of LoadData 3D is not in the published facts of this model");
        return;
    }
    if (to == L0B && esize == 1) {
        report("dtype", loc, PIPE_MTE1, "L0B", 0, 0, "LoadData 3D to L0B takes 16- and 32-bit types");
        return;
    }
    if (esize == 2 && p.channelSize % 16 != 0 && p.channelSize % 16 != 4 && p.channelSize % 16 != 8) {
        report("parameter", loc, PIPE_MTE1, nullptr, 0, 0,
               "LoadData 3D: %u channels of 16 bits (4, 8, or a multiple of 16 and 0, 4 or 8 more)", p.channelSize);
        return;
    }
    const uint32_t rows = (p.mExtension + 15u) / 16 * 16, cols = (p.kExtension + c0 - 1) / c0 * c0;
    const uint32_t col_unit = to == L0B ? 16 : c0;
    const uint32_t cols_up = (cols + col_unit - 1) / col_unit * col_unit;
    const Rows out{to, dst.addr, 1, rows * cols_up * esize, 0};
    const uint32_t groups = (p.channelSize + c0 - 1u) / c0;
    const Rows image{L1, src.addr, 1, groups * p.l1H * p.l1W * 32u, 0};
    if (!check_rows(dst, out, FRACTAL, PIPE_MTE1, loc) || !check_rows(src, image, 32, PIPE_MTE1, loc)) {
        return;
    }
    const OpId id = begin(PIPE_MTE1, loc);
    touch(image, false, id, loc);
    touch(out, true, id, loc);
    for (uint32_t m = 0; m < rows; ++m) {
        for (uint32_t k = 0; k < cols_up; ++k) {
            const uint32_t fractal = to == L0A ? (m / 16) * (cols / c0) + k / c0 : (m / c0) * (cols_up / 16) + k / 16;
            const uint32_t inside = to == L0A ? (m % 16) * c0 + k % c0 : (k % 16) * c0 + m % c0;
            const Element d = at(to, dst.addr + fractal * FRACTAL + inside * esize);
            uint32_t offset = 0;
            if (image_offset(p, m + p.mStartPt, k + p.kStartPt, esize, &offset) && offset < image.bytes) {
                copy_bytes(d, at(L1, src.addr + offset), esize);
            } else {
                memcpy(d.data, &pad_bits, std::min(4u, esize));
                if (d.undefined != nullptr) {
                    memset(d.undefined, 0, esize);
                }
            }
        }
    }
    charge_load(to, out.bytes + launch->number("load_3d_extra_cycles"));
}

void fill(const View& dst, uint16_t repeat, uint16_t blocks, uint16_t gap, uint64_t bits, Loc loc)
{
    need_cube_core("InitConstValue", loc);
    scalar_cost(launch->number("issue_cycles"));
    const uint32_t esize = dtype_bytes(dst.dtype);
    const Space s = space_of(dst.position, loc);
    if (esize != 2 && esize != 4) {
        report("dtype", loc, PIPE_MTE2, nullptr, 0, 0, "InitConstValue takes 16- and 32-bit types");
        return;
    }
    if (s != L1 && s != L0A && s != L0B) {
        report("parameter", loc, PIPE_MTE2, SPACE_NAMES[s], 0, 0, "InitConstValue fills L1, L0A and L0B");
        return;
    }
    if (repeat == 0 || blocks == 0) {
        return;
    }
    const int pipe = s == L1 ? PIPE_MTE2 : PIPE_MTE1;
    const uint32_t unit = s == L1 ? 32 : FRACTAL;
    const Rows out{s, dst.addr, repeat, blocks * unit, (uint32_t(blocks) + gap) * unit};
    if (!check_rows(dst, out, unit, pipe, loc)) {
        return;
    }
    const OpId id = begin(pipe, loc);
    touch(out, true, id, loc);
    for (uint32_t i = 0; i < out.rows; ++i) {
        const Element d = at(s, out.base + i * out.step);
        for (uint32_t k = 0; k < out.bytes; k += esize) {
            memcpy(d.data + k, &bits, esize);
        }
        if (d.undefined != nullptr) {
            memset(d.undefined, 0, out.bytes);
        }
    }
    charge(pipe, launch->number("load_latency_cycles")
                     + double(out.rows) * out.bytes / launch->number("l1_to_l0b_bytes_per_cycle"));
}

}  // namespace pyasc_model
