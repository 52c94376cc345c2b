// SPDX-License-Identifier: Apache-2.0
// Where the debug prints of kernels go: to the receiver that Python has set. Kernels refer to pyasc_print weakly, so
// this library is loaded globally before a kernel that prints.
#include <stdint.h>

typedef void (*pyasc_print_receiver)(const char* kernel, int32_t number, const int64_t* bits, int32_t count);

static pyasc_print_receiver receiver;

extern "C" __attribute__((visibility("default"))) void pyasc_print(const char* kernel, int32_t number,
                                                                   const int64_t* bits, int32_t count) {
  pyasc_print_receiver to = __atomic_load_n(&receiver, __ATOMIC_ACQUIRE);
  if (to) to(kernel, number, bits, count);
}

extern "C" __attribute__((visibility("default"))) void pyasc_set_print_receiver(pyasc_print_receiver to) {
  __atomic_store_n(&receiver, to, __ATOMIC_RELEASE);
}
