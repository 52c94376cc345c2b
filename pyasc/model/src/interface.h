// SPDX-License-Identifier: Apache-2.0
// The C interface of the model: how a driver makes a launch. `pyasc/model/driver.py` names the same functions.
#pragma once
#include <stdint.h>

namespace pyasc_model {
struct Launch;
}

extern "C" {
pyasc_model::Launch* pyasc_model_create(int check, uint64_t seed, int blocks, int kind);

// `keys` one after the other, each ended by a zero.
void pyasc_model_soc(pyasc_model::Launch* launch, const char* keys, const double* values, int count);
void pyasc_model_limit(pyasc_model::Launch* launch, double seconds);

// `undefined` has a byte of undefined bits for each byte of the array, or is null when all of it is defined.
void pyasc_model_buffer(
    pyasc_model::Launch* launch, const char* name, uint8_t* base, uint64_t size, uint8_t* undefined, int writable);

// Has writes to the buffer that was added last clear these bytes, of which there is one for each of its own.
void pyasc_model_unwritten(pyasc_model::Launch* launch, uint8_t* unwritten);

// Returns the report as JSON; it lives as long as the launch.
const char* pyasc_model_run(
    pyasc_model::Launch* launch, void (*call)(const void* const*), const void* const* args);

// For each core: its index, 1 if it is a cube core, when it ends, and how long each pipe was busy.
void pyasc_model_times(const pyasc_model::Launch* launch, double* out);
void pyasc_model_destroy(pyasc_model::Launch* launch);
}
