// SPDX-License-Identifier: Apache-2.0
// A kernel that divides by zero or follows a wild pointer ends its core, not the process.
#pragma once
#include <setjmp.h>

namespace pyasc_model {

// Holds the handlers while a launch runs; the previous ones come back with its end.
class CrashGuard {
public:
    CrashGuard();
    ~CrashGuard();
    CrashGuard(const CrashGuard&) = delete;
    CrashGuard& operator=(const CrashGuard&) = delete;
};

// Where a crashing core returns to, set before it runs; the signal is the value sigsetjmp gives.
extern thread_local sigjmp_buf crash_point;
extern thread_local volatile bool crash_armed;

}  // namespace pyasc_model
