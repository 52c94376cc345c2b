// SPDX-License-Identifier: Apache-2.0
// Without checks, instructions and copies whose lanes do not meet are put off and executed together, some lanes at a
// time, so that these lanes are still in the host's nearest cache when the next instruction comes to them.
#pragma once
#include "vector.h"

namespace pyasc_model {

// What a step reads or writes: `bits` for each lane of the batch, from `at` on. `end` is set when the step is put off.
struct Span {
    uint8_t* at = nullptr;
    uint32_t bits = 0;
    const uint8_t* end = nullptr;
    template <typename T = uint8_t>
    T* part(uint64_t lane) const
    {
        return reinterpret_cast<T*>(at + lane * bits / 8);
    }
};

// One instruction or copy on contiguous lanes. `run` executes what it has for lanes [lane, lane + n) of the batch.
struct Step {
    enum Kind : uint8_t { COMPUTE, LOAD, STORE } kind = COMPUTE;
    void (*run)(const Step& step, uint64_t lane, uint64_t n) = nullptr;
    uint64_t lanes = 0;
    uint64_t per = 1;  // lanes of the batch for one of the step's, set when the step joins
    Span out, in[3];
    int sources = 0;
    FlatFn flat = nullptr;
    FlatArgs args = {};
    uint32_t variant = 0;  // which of the forms of `run`
    uint32_t immediate = 0;
};

// Whether instructions may be put off at all: not where each is looked at.
inline bool deferring() { return !launch->check; }

// A step to fill in, and then to put off. Made where it stays: there is one for each instruction.
Step& new_step();
// Puts the step that was made last off. False: the caller executes it now, everything before it is done.
bool put_off(Step& step);

// The lanes of a contiguous operand.
Span span_of(const Region& r);

}  // namespace pyasc_model
