// SPDX-License-Identifier: Apache-2.0
// Predicted cycles of copies.
#include "timing.h"

#include <algorithm>

namespace pyasc_model {

namespace {

// What one core gets of a rate shared by all cores at work.
double share(double single, double total)
{
    const double cores = std::max<double>(1, launch->blocks * (core->cube ? launch->cubes_per_block
                                                                          : launch->vectors_per_block));
    return std::min(single, total / cores);
}

}  // namespace

double copy_in_cycles(uint64_t bytes, uint64_t bursts, bool)
{
    const double rate = core->cube
        ? share(launch->number("gm_read_cube_single"), launch->number("gm_read_cube_total"))
        : share(launch->number("gm_read_vector_single"), launch->number("gm_read_vector_total"));
    // Small copies are bound by issue, large ones pay a startup; between the two the startup is taken as growing
    // with the size (`assumed`, cost.md section 5 has only the ends).
    const double full = launch->number("gm_read_startup_cycles"), least = launch->number("gm_copy_issue_cycles");
    const double startup = std::min(full, least + static_cast<double>(bytes) * (full - least) / 8192);
    return startup + std::max(static_cast<double>(bytes) / rate,
                              static_cast<double>(bursts) * launch->number("gm_burst_cycles"));
}

double copy_out_cycles(uint64_t bytes, uint64_t bursts)
{
    const double rate = share(launch->number("gm_write_single"), launch->number("gm_write_total"));
    return std::max({launch->number("gm_copy_issue_cycles"), static_cast<double>(bytes) / rate,
                     static_cast<double>(bursts) * launch->number("gm_burst_cycles")});
}

double fixpipe_cycles(uint64_t elements, uint32_t element_bytes, bool to_gm)
{
    const double latency = launch->number("fixpipe_latency_cycles");
    if (to_gm) {
        return latency + static_cast<double>(elements * element_bytes) / launch->number("fixpipe_gm_bytes_per_cycle");
    }
    return latency + static_cast<double>(elements) / launch->number("fixpipe_l1_elements_per_cycle");
}

}  // namespace pyasc_model
