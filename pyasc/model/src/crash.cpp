// SPDX-License-Identifier: Apache-2.0
// Signal handlers for the faults of a kernel.
#include "crash.h"

#include <signal.h>
#include <stdlib.h>

namespace pyasc_model {

thread_local sigjmp_buf crash_point;
thread_local volatile bool crash_armed = false;

namespace {

constexpr int SIGNALS[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL};
constexpr size_t STACK = 64 * 1024;
struct sigaction previous[4];
stack_t previous_stack;
void* own_stack = nullptr;

void handle(int signal, siginfo_t* info, void* context)
{
    if (crash_armed) {
        crash_armed = false;
        siglongjmp(crash_point, signal);
    }
    for (int i = 0; i < 4; ++i) {
        if (SIGNALS[i] != signal) {
            continue;
        }
        if ((previous[i].sa_flags & SA_SIGINFO) != 0) {
            previous[i].sa_sigaction(signal, info, context);
        } else {
            sigaction(signal, &previous[i], nullptr);  // returns to the faulting instruction, now with that handler
        }
    }
}

}  // namespace

CrashGuard::CrashGuard()
{
    // Cores run on small stacks of their own, and an overflow of one must not need it.
    own_stack = malloc(STACK);
    stack_t stack = {};
    stack.ss_sp = own_stack;
    stack.ss_size = STACK;
    sigaltstack(&stack, &previous_stack);
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int i = 0; i < 4; ++i) {
        sigaction(SIGNALS[i], &action, &previous[i]);
    }
}

CrashGuard::~CrashGuard()
{
    for (int i = 0; i < 4; ++i) {
        sigaction(SIGNALS[i], &previous[i], nullptr);
    }
    sigaltstack(&previous_stack, nullptr);
    free(own_stack);
}

}  // namespace pyasc_model
