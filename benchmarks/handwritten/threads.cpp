// SPDX-License-Identifier: Apache-2.0
// Lets the harness give the baselines the same number of threads as what they are compared with.
#include "pool.h"

extern "C" void hw_set_threads(int32_t threads) { hw::Pool::instance().set_threads(threads); }
extern "C" int32_t hw_threads() { return hw::Pool::instance().threads(); }
