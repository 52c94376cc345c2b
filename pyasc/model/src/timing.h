// SPDX-License-Identifier: Apache-2.0
// Predicted cycles of copies; the constants come with the SoC description, each with its origin.
#pragma once
#include "gm.h"

namespace pyasc_model {

double copy_in_cycles(uint64_t bytes, uint64_t bursts, bool bypass_l2);
double copy_out_cycles(uint64_t bytes, uint64_t bursts);
double fixpipe_cycles(uint64_t elements, uint32_t element_bytes, bool to_gm);

// A copy reads bytes that a data cache still holds unwritten.
void check_dirty_lines(const GmBuffer& b, const GmRows& rows, int pipe, Loc loc);

}  // namespace pyasc_model
