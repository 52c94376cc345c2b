// SPDX-License-Identifier: Apache-2.0
// The elementwise engine: flat kernels on contiguous lanes, and the table that names which exist.
#pragma once
#include "access.h"

namespace pyasc_model {

struct FlatArgs {
    Scalar scalar;
    AscendC::RoundMode mode = AscendC::RoundMode::CAST_NONE;
    uint64_t index = 0;  // number of the first lane, for CreateVecIndex
    float deq = 1.0f;
    int16_t deq_offset = 0;
};

// `n` lanes of `d` from `n` lanes of each source; `d` may be one of the sources.
using FlatFn = void (*)(void* d, const void* const* s, size_t n, const FlatArgs& args);

enum class Shadow : uint8_t { LANE, BITWISE, NONE };  // how undefined bits travel: whole lanes, bit by bit, not at all

struct FlatKernel {
    FlatFn fn = nullptr;
    float rate = 0;          // elements a cycle, cost.md section 1
    bool reads_dst = false;
    Shadow shadow = Shadow::LANE;
    uint8_t modes = 0xff;    // allowed rounding modes, one bit each (Cast)
    bool needs_deq = false;
    bool chain = false;      // may chain through src1, hardware.md section 8
};

using FlatTable = FlatKernel[static_cast<int>(Op::COUNT)][11][11];  // by operation, destination and source type
FlatTable& flat_table();
void add_float_kernels(FlatTable& t);
void add_integer_kernels(FlatTable& t);
void add_cast_kernels(FlatTable& t);

bool all_zero(const uint8_t* p, size_t n);

// Undefined lanes of the sources make undefined lanes of the destination.
void merge_undefined(uint8_t* d, uint32_t dsize, const uint8_t* const* s, const uint32_t* ssize, int sources, size_t n);

// Cycles of a vector instruction: startup + repeats x cycles a repeat (cost.md section 2, derived there).
double vector_cycles(const Plan& plan, double elements_per_cycle);

}  // namespace pyasc_model
